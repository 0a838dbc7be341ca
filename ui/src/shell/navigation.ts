// The places one can go to. A new feature adds a line here and a route in App.
import {
  Activity,
  Boxes,
  Camera,
  CircleUserRound,
  CloudDownload,
  Cookie,
  GitCompareArrows,
  Globe,
  Handshake,
  History,
  KeyRound,
  LayoutDashboard,
  ListChecks,
  type LucideIcon,
  MailX,
  Rocket,
  Scale,
  Settings,
  Sprout,
  Users,
  WalletCards,
} from 'lucide-react'

export type Place = {
  path: string
  label: string
  icon: LucideIcon
  /** What leads there after `g`. */
  key?: string
  /** It begins another group. */
  isFirst?: boolean
}

export const PLACES: Place[] = [
  { path: '/overview', label: 'Overview', icon: LayoutDashboard, key: 'o' },
  { path: '/accounts', label: 'Accounts', icon: CircleUserRound, key: 'a', isFirst: true },
  { path: '/sites', label: 'Sites', icon: Globe, key: 's' },
  { path: '/seeds', label: 'Seeds', icon: Sprout, key: 'e' },
  { path: '/sessions', label: 'Sessions', icon: Cookie, key: 'i' },
  { path: '/captures', label: 'Captures', icon: Camera, key: 'c' },
  { path: '/leases', label: 'Leases', icon: Handshake, key: 'l' },
  { path: '/runs', label: 'Runs', icon: Rocket, key: 'r', isFirst: true },
  { path: '/jobs', label: 'Jobs', icon: ListChecks, key: 'j' },
  { path: '/platforms', label: 'Platforms', icon: Boxes, key: 'p' },
  { path: '/dead-letters', label: 'Dead letters', icon: MailX, key: 'd' },
  { path: '/budgets', label: 'Budgets', icon: WalletCards, key: 'b' },
  { path: '/parity', label: 'Parity', icon: GitCompareArrows, key: 'y' },
  { path: '/entities', label: 'Entities', icon: Users, key: 'n', isFirst: true },
  { path: '/reviews', label: 'Reviews', icon: Scale, key: 'v' },
  { path: '/sources', label: 'Sources', icon: CloudDownload, key: 'u' },
  { path: '/tokens', label: 'Tokens', icon: KeyRound, key: 'k', isFirst: true },
  { path: '/audit', label: 'Audit', icon: History, key: 'h' },
  { path: '/settings', label: 'Settings', icon: Settings, key: ',' },
  { path: '/system', label: 'System', icon: Activity, key: 'm' },
]
