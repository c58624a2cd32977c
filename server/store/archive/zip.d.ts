/** What is used of two packages that come without types. */
declare module "yazl" {
  import type { Readable } from "node:stream";
  export class ZipFile {
    readonly outputStream: Readable;
    addFile(path: string, name: string, options?: { readonly compress?: boolean }): void;
    addBuffer(bytes: Buffer, name: string, options?: { readonly compress?: boolean }): void;
    end(): void;
    on(event: "error", listener: (error: Error) => void): this;
  }
}
declare module "yauzl" {
  import type { EventEmitter } from "node:events";
  import type { Readable } from "node:stream";
  export interface Entry {
    readonly fileName: string;
    readonly uncompressedSize: number;
  }
  export interface ZipFile extends EventEmitter {
    readEntry(): void;
    openReadStream(entry: Entry, done: (error: Error | null, stream: Readable) => void): void;
    close(): void;
  }
  export function open(
    path: string,
    options: { readonly lazyEntries: boolean; readonly autoClose: boolean },
    done: (error: Error | null, zip: ZipFile) => void,
  ): void;
}
