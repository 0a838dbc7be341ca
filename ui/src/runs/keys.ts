// The names under which what is known of runs is kept.
export const RUNS = ['runs']
export const LIST = [...RUNS, 'list']
export const COUNTS = [...RUNS, 'counts']
export const HISTORY = [...RUNS, 'history']
export const one = (id: string) => [...RUNS, 'one', id]
