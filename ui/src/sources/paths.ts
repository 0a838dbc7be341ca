export { api as sourcesApi } from '@/api/client'
