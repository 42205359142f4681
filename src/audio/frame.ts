/** The length of one frame of audio, everywhere in this program: RTP packets, engines and the recorder use the same. */
export const frameMs = 20
