// The ledger of a run as a file that is kept.
import { useState } from 'react'
import { sentence } from '@/api/problems'
import { ledgerFile } from './api'

export function useLedgerFile(run: string) {
  const [fault, setFault] = useState<string | null>(null)
  const [isBusy, setIsBusy] = useState(false)
  async function save() {
    setIsBusy(true)
    setFault(null)
    try {
      const link = document.createElement('a')
      link.href = URL.createObjectURL(await ledgerFile(run))
      link.download = `${run}-ledger.csv`
      link.click()
      URL.revokeObjectURL(link.href)
    } catch (error) {
      setFault(sentence(error))
    } finally {
      setIsBusy(false)
    }
  }
  return { save, fault, isBusy }
}
