// Short names for what the API says of reviews.
import type { components } from '@/api/schema'

export type Question = components['schemas']['QuestionOut']
export type Decision = components['schemas']['ReviewIn']['decision']
