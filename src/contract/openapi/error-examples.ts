// Written by scripts/generate-error-examples.ts from responses of a running API; not to be edited.
import type { ErrorCode } from '../errors.ts'

/** A real response for each error code; ids are normalized. */
export const errorExamples: Readonly<Record<ErrorCode, Record<string, unknown>>> = {
  validation_error: {
    error: {
      code: 'validation_error',
      message: 'phone_number must be E.164, for example +12025550100.',
      request_id: 'req_0123456789abcdef',
      details: {
        fields: [
          {
            path: 'phone_number',
            code: 'invalid_e164',
          },
        ],
      },
    },
  },
  invalid_json: {
    error: {
      code: 'invalid_json',
      message: 'The body is not JSON.',
      request_id: 'req_0123456789abcdef',
    },
  },
  unsupported_version: {
    error: {
      code: 'unsupported_version',
      message: 'Service-Version must be one of: 2026-07-16.',
      request_id: 'req_0123456789abcdef',
      details: {
        supported_versions: ['2026-07-16'],
      },
    },
  },
  idempotency_key_required: {
    error: {
      code: 'idempotency_key_required',
      message: 'This operation requires an Idempotency-Key.',
      request_id: 'req_0123456789abcdef',
    },
  },
  unsupported_destination: {
    error: {
      code: 'unsupported_destination',
      message: 'Premium-rate numbers are never called.',
      request_id: 'req_0123456789abcdef',
    },
  },
  authentication_required: {
    error: {
      code: 'authentication_required',
      message: 'Send one header "Authorization: Bearer <key>".',
      request_id: 'req_0123456789abcdef',
    },
  },
  invalid_api_key: {
    error: {
      code: 'invalid_api_key',
      message: 'This API key is unknown or revoked.',
      request_id: 'req_0123456789abcdef',
    },
  },
  api_key_expired: {
    error: {
      code: 'api_key_expired',
      message: 'This API key is past its expiry.',
      request_id: 'req_0123456789abcdef',
    },
  },
  organization_not_enabled: {
    error: {
      code: 'organization_not_enabled',
      message: 'API access is not enabled for this organization. An administrator can enable it.',
      request_id: 'req_0123456789abcdef',
    },
  },
  insufficient_scope: {
    error: {
      code: 'insufficient_scope',
      message: 'This API key lacks the scope contacts:write.',
      request_id: 'req_0123456789abcdef',
    },
  },
  resource_not_found: {
    error: {
      code: 'resource_not_found',
      message: 'There is no such resource in your organization.',
      request_id: 'req_0123456789abcdef',
    },
  },
  method_not_allowed: {
    error: {
      code: 'method_not_allowed',
      message: 'This path knows only: POST, GET, HEAD.',
      request_id: 'req_0123456789abcdef',
    },
  },
  resource_state_conflict: {
    error: {
      code: 'resource_state_conflict',
      message: 'A draft batch has nothing to pause.',
      request_id: 'req_0123456789abcdef',
    },
  },
  contact_identity_conflict: {
    error: {
      code: 'contact_identity_conflict',
      message:
        'The phone number belongs to the contact with source "public_api" and external_id "crm-1906", not to source "public_api" and external_id "crm-1842".',
      request_id: 'req_0123456789abcdef',
    },
  },
  idempotency_conflict: {
    error: {
      code: 'idempotency_conflict',
      message: 'This Idempotency-Key was used within 24 hours for a request that differs.',
      request_id: 'req_0123456789abcdef',
    },
  },
  idempotency_in_progress: {
    error: {
      code: 'idempotency_in_progress',
      message: 'A request with this Idempotency-Key is still running. Retry it shortly.',
      request_id: 'req_0123456789abcdef',
    },
  },
  duplicate_active_run: {
    error: {
      code: 'duplicate_active_run',
      message: 'This contact has an active run of this Automation.',
      request_id: 'req_0123456789abcdef',
      details: {
        existing_run_id: '019c6b2e-7a40-7c31-9d0f-2f6a51b7c0a1',
      },
    },
  },
  recipient_blocked_by_policy: {
    error: {
      code: 'recipient_blocked_by_policy',
      message: 'This number is on your organization’s do-not-call list.',
      request_id: 'req_0123456789abcdef',
    },
  },
  request_too_large: {
    error: {
      code: 'request_too_large',
      message: 'A request body holds at most 1048576 bytes.',
      request_id: 'req_0123456789abcdef',
    },
  },
  rate_limit_exceeded: {
    error: {
      code: 'rate_limit_exceeded',
      message:
        'The allowance of the read bucket is used up. Wait, add a small random delay, then retry.',
      request_id: 'req_0123456789abcdef',
    },
  },
  internal_error: {
    error: {
      code: 'internal_error',
      message: 'Something went wrong on our side. Quote the request id.',
      request_id: 'req_0123456789abcdef',
    },
  },
}
