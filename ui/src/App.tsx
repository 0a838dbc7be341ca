// The pages and who may see them. Without a token every address shows the sign-in page, and leads on once there is one.
import { type ComponentType, lazy, useEffect } from 'react'
import { Navigate, Route, Routes } from 'react-router'
import { queryClient } from './api/client'
import { useSession } from './api/session'
import { NotFoundPage } from './shell/NotFoundPage'
import { Shell } from './shell/Shell'
import { SignInPage } from './shell/SignInPage'

/** A page is loaded when somebody goes there. */
function page<Name extends string>(name: Name, load: () => Promise<Record<Name, ComponentType>>) {
  return lazy(async () => ({ default: (await load())[name] }))
}

const AccountPage = page('AccountPage', () => import('./accounts/AccountPage'))
const AccountsPage = page('AccountsPage', () => import('./accounts/AccountsPage'))
const AuditPage = page('AuditPage', () => import('./audit/AuditPage'))
const BudgetsPage = page('BudgetsPage', () => import('./budgets/BudgetsPage'))
const CapturePage = page('CapturePage', () => import('./captures/CapturePage'))
const CapturesPage = page('CapturesPage', () => import('./captures/CapturesPage'))
const EntitiesPage = page('EntitiesPage', () => import('./entities/EntitiesPage'))
const EntityPage = page('EntityPage', () => import('./entities/EntityPage'))
const JobPage = page('JobPage', () => import('./jobs/JobPage'))
const JobsPage = page('JobsPage', () => import('./jobs/JobsPage'))
const LeasesPage = page('LeasesPage', () => import('./leases/LeasesPage'))
const LettersPage = page('LettersPage', () => import('./letters/LettersPage'))
const OverviewPage = page('OverviewPage', () => import('./overview/OverviewPage'))
const ParityPage = page('ParityPage', () => import('./parity/ParityPage'))
const PlanPage = page('PlanPage', () => import('./runs/PlanPage'))
const PlatformPage = page('PlatformPage', () => import('./platforms/PlatformPage'))
const PlatformsPage = page('PlatformsPage', () => import('./platforms/PlatformsPage'))
const ReviewsPage = page('ReviewsPage', () => import('./reviews/ReviewsPage'))
const RunPage = page('RunPage', () => import('./runs/RunPage'))
const RunsPage = page('RunsPage', () => import('./runs/RunsPage'))
const SeedPage = page('SeedPage', () => import('./seeds/SeedPage'))
const SeedsPage = page('SeedsPage', () => import('./seeds/SeedsPage'))
const SessionPage = page('SessionPage', () => import('./sessions/SessionPage'))
const SessionsPage = page('SessionsPage', () => import('./sessions/SessionsPage'))
const SettingsPage = page('SettingsPage', () => import('./settings/SettingsPage'))
const SitePage = page('SitePage', () => import('./sites/SitePage'))
const SitesPage = page('SitesPage', () => import('./sites/SitesPage'))
const SourcesPage = page('SourcesPage', () => import('./sources/SourcesPage'))
const SystemPage = page('SystemPage', () => import('./system/SystemPage'))
const TokensPage = page('TokensPage', () => import('./tokens/TokensPage'))
const WeightsPage = page('WeightsPage', () => import('./entities/WeightsPage'))

export function App() {
  const { token, farewell } = useSession()

  useEffect(() => {
    // What one token was shown is not for the next one to see.
    if (!token) queryClient.clear()
  }, [token])

  if (!token) return <SignInPage farewell={farewell} />
  return (
    <Routes>
      <Route element={<Shell />}>
        <Route index element={<Navigate to="/overview" replace />} />
        <Route path="overview" element={<OverviewPage />} />
        <Route path="accounts" element={<AccountsPage />} />
        <Route path="accounts/:id" element={<AccountPage />} />
        <Route path="sites" element={<SitesPage />} />
        <Route path="sites/:slug" element={<SitePage />} />
        <Route path="seeds" element={<SeedsPage />} />
        <Route path="seeds/:id" element={<SeedPage />} />
        <Route path="sessions" element={<SessionsPage />} />
        <Route path="sessions/:id" element={<SessionPage />} />
        <Route path="captures" element={<CapturesPage />} />
        <Route path="captures/:id" element={<CapturePage />} />
        <Route path="runs" element={<RunsPage />} />
        <Route path="runs/new" element={<PlanPage />} />
        <Route path="runs/:id" element={<RunPage />} />
        <Route path="jobs" element={<JobsPage />} />
        <Route path="jobs/:id" element={<JobPage />} />
        <Route path="platforms" element={<PlatformsPage />} />
        <Route path="platforms/:slug" element={<PlatformPage />} />
        <Route path="dead-letters" element={<LettersPage />} />
        <Route path="budgets" element={<BudgetsPage />} />
        <Route path="parity" element={<ParityPage />} />
        <Route path="entities" element={<EntitiesPage />} />
        <Route path="entities/weights" element={<WeightsPage />} />
        <Route path="entities/:id" element={<EntityPage />} />
        <Route path="reviews" element={<ReviewsPage />} />
        <Route path="sources" element={<SourcesPage />} />
        <Route path="leases" element={<LeasesPage />} />
        <Route path="tokens" element={<TokensPage />} />
        <Route path="audit" element={<AuditPage />} />
        <Route path="settings" element={<SettingsPage />} />
        <Route path="system" element={<SystemPage />} />
        <Route path="*" element={<NotFoundPage />} />
      </Route>
    </Routes>
  )
}
