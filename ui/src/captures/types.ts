// Short names for what the API says about captures.
import type { components } from '@/api/schema'

type Schemas = components['schemas']

export type Capture = Schemas['CaptureOut']
export type CaptureFile = Schemas['FileOut']
export type LifeEvent = Schemas['LifeEventOut']
export type State = Capture['state']
