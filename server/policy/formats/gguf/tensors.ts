/** The bytes of single tensors: a file is never read whole. */
import { closeSync, openSync, readSync } from "node:fs";
import { ggufError, type Header, type TensorInfo } from "./header.ts";

/** Calls back with a reader of the file's tensors, which is open as long. */
export function withTensors<T>(header: Header, use: (read: (tensor: TensorInfo) => Uint8Array) => T): T {
  const descriptor = openSync(header.file, "r");
  try {
    return use((tensor) => {
      const bytes = new Uint8Array(tensor.bytes);
      let done = 0;
      while (done < bytes.length) {
        const read = readSync(descriptor, bytes, done, bytes.length - done, tensor.offset + done);
        if (read === 0) throw ggufError(header.file, `it ends inside the tensor ${tensor.name}`);
        done += read;
      }
      return bytes;
    });
  } finally {
    closeSync(descriptor);
  }
}

export const tensorBytes = (header: Header, tensor: TensorInfo): Uint8Array =>
  withTensors(header, (read) => read(tensor));
