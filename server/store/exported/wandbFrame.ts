/** Records in pieces, as `.wandb` files have them: what `wandbLog.ts` reads. */
import { crc32 } from "../../../shared/log/crc32.ts";
import { blockBytes, fileHeader, headerBytes, kind } from "../imported/feeds/wandb/wandbLog.ts";

export class WandbFrame {
  private position = 0;

  /** The file's first bytes. */
  begin(): Buffer {
    return this.written(Buffer.concat([fileHeader, Buffer.from([0])]));
  }

  /** A record: one piece, or several where a block ends within it. */
  *pieces(record: Buffer): Generator<Buffer> {
    for (let at = 0, first = true; first || at < record.length; first = false) {
      const left = blockBytes - (this.position % blockBytes);
      if (left < headerBytes) yield this.written(Buffer.alloc(left));
      const room = (left < headerBytes ? blockBytes : left) - headerBytes;
      const data = record.subarray(at, at + room);
      at += data.length;
      const last = at === record.length;
      yield this.written(
        piece(first ? (last ? kind.whole : kind.first) : last ? kind.last : kind.middle, data),
      );
    }
  }

  private written(bytes: Buffer): Buffer {
    this.position += bytes.length;
    return bytes;
  }
}

/** `u32 crc32(type and data) | u16 length | u8 type | data` */
function piece(type: number, data: Buffer): Buffer {
  const bytes = Buffer.alloc(headerBytes + data.length);
  bytes.writeUInt16LE(data.length, 4);
  bytes[6] = type;
  data.copy(bytes, headerBytes);
  bytes.writeUInt32LE(crc32(bytes.subarray(6)), 0);
  return bytes;
}
