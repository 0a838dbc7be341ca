// The pages and who may see them. Without a token every address shows the sign-in page, and leads on once there is one.
import { useEffect } from 'react'
import { Navigate, Route, Routes } from 'react-router'
import { AccountPage } from './accounts/AccountPage'
import { AccountsPage } from './accounts/AccountsPage'
import { queryClient } from './api/client'
import { useSession } from './api/session'
import { AuditPage } from './audit/AuditPage'
import { CapturePage } from './captures/CapturePage'
import { CapturesPage } from './captures/CapturesPage'
import { LeasesPage } from './leases/LeasesPage'
import { SeedPage } from './seeds/SeedPage'
import { SeedsPage } from './seeds/SeedsPage'
import { SessionPage } from './sessions/SessionPage'
import { SessionsPage } from './sessions/SessionsPage'
import { NotFoundPage } from './shell/NotFoundPage'
import { Shell } from './shell/Shell'
import { SignInPage } from './shell/SignInPage'
import { SitePage } from './sites/SitePage'
import { SitesPage } from './sites/SitesPage'
import { SystemPage } from './system/SystemPage'
import { TokensPage } from './tokens/TokensPage'

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
        <Route index element={<Navigate to="/sites" replace />} />
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
        <Route path="leases" element={<LeasesPage />} />
        <Route path="tokens" element={<TokensPage />} />
        <Route path="audit" element={<AuditPage />} />
        <Route path="system" element={<SystemPage />} />
        <Route path="*" element={<NotFoundPage />} />
      </Route>
    </Routes>
  )
}
