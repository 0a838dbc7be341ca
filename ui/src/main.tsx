// Where the admin UI starts.
import './styles.css'
import './shell/theme'
import { QueryClientProvider } from '@tanstack/react-query'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { BrowserRouter } from 'react-router'
import { App } from './App'
import { queryClient } from './api/client'

const root = document.getElementById('root')
if (!root) throw new Error('index.html has lost its root element')
createRoot(root).render(
  <StrictMode>
    <QueryClientProvider client={queryClient}>
      {/* Filters live in the URL; as transitions their letters would arrive late and get lost in fast typing. */}
      <BrowserRouter basename="/ui" useTransitions={false}>
        <App />
      </BrowserRouter>
    </QueryClientProvider>
  </StrictMode>,
)
