/** The bytes of single tensors: a file is never read whole. */
import { closeSync, openSync, readSync } from "node:fs";
import { Scratch } from "../../devices/scratch.ts";
import { ggufError, type Header, type TensorInfo } from "./header.ts";

/** An open file of tensors. */
export class TensorFile {
  private readonly descriptor: number;
  private readonly scratch = new Scratch();
  constructor(private readonly header: Header) {
    this.descriptor = openSync(header.file, "r");
  }
  /** Stands until the next tensor is read. */
  bytes(tensor: TensorInfo): Uint8Array {
    const bytes = this.scratch.bytes(tensor.bytes);
    let done = 0;
    while (done < bytes.length) {
      const read = readSync(this.descriptor, bytes, done, bytes.length - done, tensor.offset + done);
      if (read === 0) throw ggufError(this.header.file, `it ends inside the tensor ${tensor.name}`);
      done += read;
    }
    return bytes;
  }
  close(): void {
    closeSync(this.descriptor);
  }
}

export function tensorBytes(header: Header, tensor: TensorInfo): Uint8Array {
  const file = new TensorFile(header);
  try {
    return file.bytes(tensor);
  } finally {
    file.close();
  }
}
