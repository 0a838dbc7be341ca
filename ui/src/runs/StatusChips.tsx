// How many runs are in each status; pressed, a chip narrows the list down to it, and several add up.
import { Chip, Chips } from '@/kit/Chips'
import { useGrowth } from '@/kit/useGrowth'
import { useCounts } from './api'
import { STATUS_NAMES, STATUSES } from './states'

type Props = { chosen: string[]; onChoose: (names: string[]) => void }

export function StatusChips({ chosen, onChoose }: Props) {
  const { data, dataUpdatedAt } = useCounts()
  const all = data ? Object.values(data).reduce((sum, count) => sum + count, 0) : undefined
  const growth = useGrowth(data && { ...data, all: all ?? 0 }, dataUpdatedAt)
  const toggled = (name: string) =>
    chosen.includes(name) ? chosen.filter((one) => one !== name) : [...chosen, name]
  return (
    <Chips label="Status">
      <Chip
        label="All"
        count={all}
        more={growth.all}
        isOn={chosen.length === 0}
        onPress={() => onChoose([])}
      />
      {STATUS_NAMES.map((name) => (
        <Chip
          key={name}
          label={STATUSES[name].label}
          sign={STATUSES[name]}
          count={data?.[name]}
          more={growth[name]}
          isOn={chosen.includes(name)}
          onPress={() => onChoose(toggled(name))}
        />
      ))}
    </Chips>
  )
}
