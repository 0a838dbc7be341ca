// Builds two pages: the admin UI (index.html) and the API reference (docs.html), both served under /ui/.
import { fileURLToPath } from 'node:url'
import tailwindcss from '@tailwindcss/vite'
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

const here = (path) => fileURLToPath(new URL(path, import.meta.url))
const server = process.env.LEASEHOLD_URL ?? 'http://127.0.0.1:8700'
const served = ['/v2', '/readyz', '/openapi.json', '/problems', '/metrics']

export default defineConfig({
  base: '/ui/',
  plugins: [react(), tailwindcss()],
  resolve: { alias: { '@': here('./src') } },
  build: {
    // The policy of the page allows images from data: URLs, but scripts and styles from files alone.
    assetsInlineLimit: 0,
    // Swagger UI is one large file, and is loaded by its own page only.
    chunkSizeWarningLimit: 1800,
    rolldownOptions: { input: { index: here('./index.html'), docs: here('./docs.html') } },
  },
  server: { proxy: Object.fromEntries(served.map((path) => [path, server])) },
})
