// The API reference: Swagger UI from this server's own files, showing this server's own description.
import 'swagger-ui-dist/swagger-ui.css'
import './docs.css'
// The ES bundle, not the UMD one: that looks for a module loader which a browser does not have.
import SwaggerUI from 'swagger-ui-dist/swagger-ui-es-bundle.js'
import { isDark } from '@/shell/theme'

document.documentElement.classList.toggle('dark-mode', isDark())

SwaggerUI({
  url: '/openapi.json',
  dom_id: '#docs',
  deepLinking: true,
  displayRequestDuration: true,
  // Off: Swagger UI would otherwise send the description to a validator on the internet.
  validatorUrl: null,
})
