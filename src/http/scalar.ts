import scalar from '@scalar/fastify-api-reference'
import fastify from 'fastify'

/**
 * Scalar's program for the browser, whole in one file. Its package carries it as text that only its Fastify plugin
 * hands out, so an app that never listens is asked for it. A few megabytes: load it when somebody wants to see it.
 */
export const loadScalarProgram = async (): Promise<string> => {
  const app = fastify()
  try {
    app.register(scalar, { routePrefix: '/docs', configuration: { url: '/openapi.json' } })
    const { statusCode, body } = await app.inject('/docs/js/scalar.js')
    if (statusCode !== 200) throw new Error(`Scalar answered ${statusCode} for its own program.`)
    return body
  } finally {
    await app.close()
  }
}
