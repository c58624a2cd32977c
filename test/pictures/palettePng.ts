/** Screenshots as small files: a PNG of at most 256 colours, the most frequent ones. Pure. */
import { crc32, deflateSync, inflateSync } from "node:zlib";

interface Pixels {
  readonly width: number;
  readonly height: number;
  /** Red, green and blue of each pixel, row by row. */
  readonly rgb: Uint8Array;
}

const signature = Buffer.from("89504e470d0a1a0a", "hex");
const most = 256;

/** @throws Error for what a screenshot is not: interlaced, or other than 8 bits of red, green and blue (and alpha) */
export function decodePng(png: Buffer): Pixels {
  const parts: Buffer[] = [];
  let [width, height, channels] = [0, 0, 0];
  for (let at = signature.length; at < png.length;) {
    const length = png.readUInt32BE(at);
    const kind = png.toString("latin1", at + 4, at + 8);
    const data = png.subarray(at + 8, at + 8 + length);
    if (kind === "IHDR") {
      [width, height] = [data.readUInt32BE(0), data.readUInt32BE(4)];
      channels = { 2: 3, 6: 4 }[data[9]!] ?? 0;
      if (channels === 0 || data[8] !== 8 || data[12] !== 0) throw new Error("not a screenshot's PNG");
    }
    if (kind === "IDAT") parts.push(data);
    at += 12 + length;
  }
  const bytes = unfiltered(inflateSync(Buffer.concat(parts)), width * channels, channels);
  const rgb = new Uint8Array(width * height * 3);
  for (let i = 0; i < width * height; i++) rgb.set(bytes.subarray(i * channels, i * channels + 3), i * 3);
  return { width, height, rgb };
}

/** Rows without their filters (PNG specification, section 9). */
function unfiltered(raw: Buffer, stride: number, channels: number): Uint8Array {
  const rows = raw.length / (stride + 1);
  const out = new Uint8Array(rows * stride);
  for (let row = 0; row < rows; row++) {
    const filter = raw[row * (stride + 1)]!;
    for (let x = 0; x < stride; x++) {
      const at = row * stride + x;
      const left = x < channels ? 0 : out[at - channels]!;
      const up = row === 0 ? 0 : out[at - stride]!;
      const corner = row === 0 || x < channels ? 0 : out[at - stride - channels]!;
      const guess = [0, left, up, (left + up) >> 1, paeth(left, up, corner)][filter] ?? 0;
      out[at] = raw[row * (stride + 1) + 1 + x]! + guess;
    }
  }
  return out;
}

function paeth(left: number, up: number, corner: number): number {
  const guess = left + up - corner;
  const [a, b, c] = [Math.abs(guess - left), Math.abs(guess - up), Math.abs(guess - corner)];
  return a <= b && a <= c ? left : b <= c ? up : corner;
}

/** Colours that are not among the most frequent become the nearest of those. */
export function palettePng({ width, height, rgb }: Pixels): Buffer {
  const colours = new Uint32Array(width * height);
  const counts = new Map<number, number>();
  for (let i = 0; i < colours.length; i++) {
    const colour = (rgb[i * 3]! << 16) | (rgb[i * 3 + 1]! << 8) | rgb[i * 3 + 2]!;
    colours[i] = colour;
    counts.set(colour, (counts.get(colour) ?? 0) + 1);
  }
  const palette = [...counts]
    .sort(([, a], [, b]) => b - a)
    .slice(0, most)
    .map(([colour]) => colour);
  const places = new Map(palette.map((colour, at) => [colour, at]));
  const rows = Buffer.alloc(height * (width + 1));
  for (let i = 0; i < colours.length; i++) {
    const colour = colours[i]!;
    const place = places.get(colour) ?? nearest(palette, colour);
    places.set(colour, place);
    rows[Math.floor(i / width) * (width + 1) + 1 + (i % width)] = place;
  }
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.set([8, 3, 0, 0, 0], 8);
  const plte = Buffer.from(palette.flatMap((colour) => [colour >> 16, (colour >> 8) & 255, colour & 255]));
  return Buffer.concat([
    signature,
    chunk("IHDR", head),
    chunk("PLTE", plte),
    chunk("IDAT", deflateSync(rows, { level: 9 })),
    chunk("IEND", Buffer.alloc(0)),
  ]);
}

function nearest(palette: readonly number[], colour: number): number {
  const apart = (other: number): number =>
    [16, 8, 0].reduce((sum, shift) => sum + (((other >> shift) & 255) - ((colour >> shift) & 255)) ** 2, 0);
  let best = 0;
  for (let at = 1; at < palette.length; at++) if (apart(palette[at]!) < apart(palette[best]!)) best = at;
  return best;
}

function chunk(kind: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(kind, "latin1"), data]);
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  sum.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, sum]);
}
