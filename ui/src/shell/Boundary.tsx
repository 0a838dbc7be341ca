// Keeps a page that fails from taking the navigation with it; most often its code is gone because the server is newer.
import { Component, type ReactNode } from 'react'
import { Button } from '@/kit/Button'
import { Page, Panel } from '@/kit/Panel'
import { Empty } from '@/kit/states'

type State = { hasFailed: boolean }

export class Boundary extends Component<{ children: ReactNode }, State> {
  state: State = { hasFailed: false }

  static getDerivedStateFromError(): State {
    return { hasFailed: true }
  }

  render() {
    if (!this.state.hasFailed) return this.props.children
    return (
      <Page title="This page could not be shown">
        <Panel>
          <Empty
            title="Load it again"
            action={
              <Button look="primary" onClick={() => window.location.reload()}>
                Reload
              </Button>
            }
          >
            The server may have been upgraded since this tab was opened, or cannot be reached. If it fails
            again, the other pages still work.
          </Empty>
        </Panel>
      </Page>
    )
  }
}
