/** What a metric of this program is, in the words of Prometheus. */
interface MetricDefinition {
  readonly type: 'counter' | 'gauge' | 'histogram'
  readonly help: string
  readonly labels: readonly string[]
  /** Upper bounds in the unit of the name. */
  readonly buckets?: readonly number[]
}

/** In the unit of the name; seconds from 1 ms to 10 s. */
export const bucketBounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
const replySeconds = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1, 1.5, 2, 3, 5]
const lineSeconds = [0.001, 0.0025, 0.005, 0.01, 0.02, 0.03, 0.05, 0.1, 0.2, 0.5]
const frames = [0, 1, 5, 10, 25, 50, 100, 250, 1_000, 5_000]
const opinions = [1, 2, 2.5, 3, 3.5, 3.8, 4, 4.1, 4.2, 4.3, 4.4, 4.5]

const counter = (help: string, ...labels: string[]) =>
  ({ type: 'counter', help, labels }) as const satisfies MetricDefinition
const gauge = (help: string, ...labels: string[]) =>
  ({ type: 'gauge', help, labels }) as const satisfies MetricDefinition
const histogram = (help: string, buckets: readonly number[], ...labels: string[]) =>
  ({ type: 'histogram', help, labels, buckets }) as const satisfies MetricDefinition

/**
 * The one list of all metrics, `outdial_<noun>_<unit>`. A label has a value of a small closed set, or names a trunk or
 * its gateway; never an id, a phone number or an organization. `docs/metrics.md` is compared with it in a test.
 */
export const counters = {
  outdial_http_requests_total: counter('Requests to the API.', 'operation', 'status'),
  outdial_sip_dropped_messages_total: counter(
    'Datagrams and messages dropped by the SIP gate, strangers’ among them.',
    'reason',
  ),
  outdial_dropped_requests_total: counter(
    'Requests that the request log could not keep.',
    'reason',
  ),
  outdial_calls_back_total: counter('Calls of people to our numbers.', 'result'),
  outdial_trunk_faults_total: counter('Faults that calls or probes met at a gateway.', 'cause'),
  outdial_calls_claimed_total: counter('Calls that this node claimed from the queue.'),
  outdial_calls_ended_total: counter(
    'Calls that live calls of this node brought to an end.',
    'status',
    'answer',
  ),
  outdial_sip_attempts_total: counter(
    'INVITEs to a trunk’s gateways, by the class of the final response; none: no response, or not sent.',
    'trunk',
    'class',
  ),
  outdial_rtp_packets_total: counter('RTP packets of finished calls.', 'direction'),
  outdial_jobs_total: counter('Jobs after calls: runs that this node ended.', 'result'),
} as const

export const histograms = {
  outdial_http_request_seconds: histogram('Time of an API request.', bucketBounds, 'operation'),
  outdial_reply_seconds: histogram(
    'From the end of the callee’s turn to the first sound of the reply.',
    replySeconds,
  ),
  outdial_rtp_jitter_seconds: histogram(
    'Interarrival jitter of a finished call.',
    lineSeconds,
    'direction',
  ),
  outdial_rtp_round_trip_seconds: histogram(
    'Round trip by RTCP of a finished call.',
    lineSeconds,
    'direction',
  ),
  outdial_rtp_lost_packets: histogram('Packets lost in a finished call.', frames, 'direction'),
  outdial_rtp_late_packets: histogram(
    'Packets of a finished call that came after their playout time.',
    frames,
    'direction',
  ),
  outdial_rtp_concealed_frames: histogram(
    'Frames of 20 ms concealed in a finished call.',
    frames,
    'direction',
  ),
  outdial_call_mos: histogram(
    'Mean opinion score by the E-model (ITU-T G.107) of a finished call.',
    opinions,
    'direction',
  ),
} as const

export const gauges = {
  outdial_build_info: gauge('Always 1.', 'version'),
  outdial_scrape_complete: gauge(
    '1 if the figures of the database are of this scrape; 0 if it did not answer in time.',
  ),
  outdial_live_calls: gauge('Calls that this node holds.'),
  outdial_channels_limit: gauge('OUTDIAL_MAX_CHANNELS of this node.'),
  outdial_media_capacity_calls: gauge(
    'Calls that the media threads can carry now; below the limit when their ticks are late.',
  ),
  outdial_media_tick_lateness_seconds: gauge(
    'Lateness of media ticks, 99th percentile of the latest thread.',
  ),
  outdial_calls: gauge('Live calls over all nodes.', 'trunk', 'status'),
  outdial_queued_calls: gauge(
    'Calls that wait in the queue, over all nodes; counted up to 10,000.',
  ),
  outdial_oldest_due_call_seconds: gauge(
    'Age of the oldest call that is due in an open lane; 0 without one. Of 1,000 lanes.',
  ),
  outdial_trunk_channels_limit: gauge(
    'Channels of a trunk; absent: as many as the nodes hold.',
    'trunk',
  ),
  outdial_trunk_calls_per_second: gauge('Pace of a trunk now, after congestion.', 'trunk'),
  outdial_gateway_state: gauge(
    '1 for the state of a gateway’s circuit: up, trial or down.',
    'trunk',
    'gateway',
    'state',
  ),
  outdial_trunk_registrations: gauge(
    'Live nodes by the state of their REGISTER at a gateway.',
    'trunk',
    'gateway',
    'state',
  ),
} as const

export type CounterName = keyof typeof counters
export type HistogramName = keyof typeof histograms
export type GaugeName = keyof typeof gauges
export type MetricName = CounterName | HistogramName | GaugeName
