// Changes, one at a time: a double click sends one request, and whoever asks waits for the answer.
import { type UseMutationOptions, useMutation } from '@tanstack/react-query'
import { useRef } from 'react'

type Options<Wish, Answer> = Omit<UseMutationOptions<Answer, Error, Wish>, 'onSettled'>

export function useChange<Wish, Answer>(options: Options<Wish, Answer>) {
  // The state of a mutation reaches the page one render late, which is too late for the second click of two.
  const isUnderWay = useRef(false)
  const mutation = useMutation({
    ...options,
    onSettled: () => {
      isUnderWay.current = false
    },
  })
  const mutate: typeof mutation.mutate = (...request) => {
    if (isUnderWay.current) return
    isUnderWay.current = true
    mutation.mutate(...request)
  }
  return { ...mutation, mutate }
}
