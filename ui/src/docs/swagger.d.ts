// The part of Swagger UI that this page calls; the package brings no types of its own.
declare module 'swagger-ui-dist/swagger-ui-es-bundle.js' {
  type Options = {
    url: string
    dom_id: string
    deepLinking: boolean
    displayRequestDuration: boolean
    validatorUrl: null
  }
  export default function SwaggerUI(options: Options): unknown
}
