// The places one can go to. A new feature adds a line here and a route in App.
import {
  Activity,
  Camera,
  CircleUserRound,
  Cookie,
  Globe,
  Handshake,
  History,
  KeyRound,
  type LucideIcon,
  Sprout,
} from 'lucide-react'

type Place = { path: string; label: string; icon: LucideIcon }

export const PLACES: Place[] = [
  { path: '/accounts', label: 'Accounts', icon: CircleUserRound },
  { path: '/sites', label: 'Sites', icon: Globe },
  { path: '/seeds', label: 'Seeds', icon: Sprout },
  { path: '/sessions', label: 'Sessions', icon: Cookie },
  { path: '/captures', label: 'Captures', icon: Camera },
  { path: '/leases', label: 'Leases', icon: Handshake },
  { path: '/tokens', label: 'Tokens', icon: KeyRound },
  { path: '/audit', label: 'Audit', icon: History },
  { path: '/system', label: 'System', icon: Activity },
]
