// oxlint-disable-next-line import/default -- Vite's suffix makes it the address of the built file.
import captureUrl from './capture.worklet.ts?worker&url'

/** Why a browser gives no microphone, as a sentence. */
export class MicrophoneError extends Error {
  override name = 'MicrophoneError'
}

/** Asks the person for the microphone. It is released by stopping the stream's tracks. */
export const askForMicrophone = async (): Promise<MediaStream> => {
  // Browsers give it to pages of https and of this machine only.
  const devices = (navigator as Partial<Navigator>).mediaDevices
  if (!devices)
    throw new MicrophoneError(
      'This browser gives the microphone to pages of https only. Open the dashboard by https, or on this machine as localhost.',
    )
  try {
    return await devices.getUserMedia({
      audio: { echoCancellation: true, noiseSuppression: true, autoGainControl: true },
    })
  } catch (error) {
    throw new MicrophoneError(
      'The browser gave no microphone: allow it for this page, or connect one.',
      { cause: error },
    )
  }
}

/** Calls back with 40 ms of G.711 at a time. */
export const captureMicrophone = async (
  context: AudioContext,
  microphone: MediaStream,
  onBytes: (bytes: Uint8Array<ArrayBuffer>) => void,
): Promise<void> => {
  await context.audioWorklet.addModule(captureUrl)
  const node = new AudioWorkletNode(context, 'capture', { numberOfOutputs: 0, channelCount: 1 })
  node.port.onmessage = ({ data }: MessageEvent<Uint8Array<ArrayBuffer>>) => onBytes(data)
  context.createMediaStreamSource(microphone).connect(node)
}
