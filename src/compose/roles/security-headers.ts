/**
 * What a browser is told about every answer of the dashboard, as names and values in turn. Only programs of this server
 * run, none that stand in a page; the component library writes style elements of its own.
 */
export const securityHeaders = (mediaOrigin: string, ownOrigin: string): readonly string[] => [
  'Content-Security-Policy',
  [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data:",
    "font-src 'self'",
    `media-src 'self' blob: ${mediaOrigin}`,
    `connect-src 'self' ${mediaOrigin}`,
    "worker-src 'self'",
    "manifest-src 'self'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join('; '),
  'X-Frame-Options',
  'DENY',
  'Referrer-Policy',
  'no-referrer',
  'Cross-Origin-Opener-Policy',
  'same-origin',
  'Cross-Origin-Resource-Policy',
  'same-origin',
  'Permissions-Policy',
  'camera=(), geolocation=(), payment=(), usb=(), microphone=(self)',
  ...(ownOrigin.startsWith('https:') ? ['Strict-Transport-Security', 'max-age=31536000'] : []),
]
