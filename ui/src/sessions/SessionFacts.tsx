// What there is in a session, as counts, and who wrote it last.
import { Link } from 'react-router'
import { Fact } from '@/kit/Fact'
import { Moment } from '@/kit/Moment'
import { Panel } from '@/kit/Panel'
import { sized } from '@/kit/sizes'
import { howMade, SignIn } from './signs'
import type { Version } from './types'

export function SessionFacts({ current }: { current: Version }) {
  const { written } = current
  return (
    <Panel title="Facts">
      <dl className="flex flex-col gap-1.5 px-4 py-3">
        <Fact term="Version">{current.version}</Fact>
        <Fact term="Sign-in ends">
          <SignIn facts={current} />
        </Fact>
        <Fact term="Cookies">{current.cookies}</Fact>
        <Fact term="Origins">{current.origins}</Fact>
        <Fact term="Stored keys" title="Of localStorage.">
          {current.local_storage}
        </Fact>
        <Fact term="Databases">{current.databases}</Fact>
        <Fact term="Files">{current.files}</Fact>
        <Fact term="Size">{sized(current.bytes)}</Fact>
        <Fact term="Written">
          <Moment at={current.updated_at} />
        </Fact>
        <Fact term="How">{howMade(current)}</Fact>
        {written.owner && (
          <Fact term="Holder">
            <Link
              to={`/leases?owner=${encodeURIComponent(written.owner)}`}
              className="text-accent hover:underline"
            >
              {written.owner}
            </Link>
          </Fact>
        )}
        <Fact term="Token">{written.by}</Fact>
        {current.heavy_hosts.length > 0 && (
          <Fact term="Heavy hosts" title="Their Cookie: header is longer than many servers take.">
            {current.heavy_hosts.join(', ')}
          </Fact>
        )}
      </dl>
    </Panel>
  )
}
