/** The length of one audio frame everywhere in this program: RTP packets, engines and the recorder. */
export const frameMs = 20

/** G.711 has 8,000 samples of one byte a second. */
export const g711BytesPerMs = 8

/** One frame at 8 kHz. */
export const frameSamples = 160
