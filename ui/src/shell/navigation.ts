// The places one can go to. A new feature adds a line here and a route in App.
import { Activity, Globe, History, KeyRound, type LucideIcon } from 'lucide-react'

type Place = { path: string; label: string; icon: LucideIcon }

export const PLACES: Place[] = [
  { path: '/sites', label: 'Sites', icon: Globe },
  { path: '/tokens', label: 'Tokens', icon: KeyRound },
  { path: '/audit', label: 'Audit', icon: History },
  { path: '/system', label: 'System', icon: Activity },
]
