// Whether the server can do its work, asked every 15 seconds and shared by the dot and the System page.
import { useQuery } from '@tanstack/react-query'
import { api } from '@/api/client'
import { sentence } from '@/api/problems'
import type { ProblemDocument } from '@/api/types'

const EVERY_MS = 15_000

type Readiness = { isReady: boolean; words: string; checks: Record<string, string> }

async function ask(): Promise<Readiness> {
  try {
    const { data, error } = await api.GET('/readyz')
    if (data) return { isReady: true, words: 'Ready', checks: data.checks }
    const checks = checksOf(error)
    const bad = Object.entries(checks).filter(([, state]) => state !== 'ok')
    const faults = bad.map(([name, state]) => `${name} ${state}`).join(', ')
    return { isReady: false, words: `Not ready: ${faults || error.detail}`, checks }
  } catch (error) {
    return { isReady: false, words: sentence(error), checks: {} }
  }
}

function checksOf({ checks }: ProblemDocument): Record<string, string> {
  return typeof checks === 'object' && checks !== null ? (checks as Record<string, string>) : {}
}

export function useReadiness() {
  return useQuery({ queryKey: ['readyz'], queryFn: ask, refetchInterval: EVERY_MS, staleTime: EVERY_MS })
}
