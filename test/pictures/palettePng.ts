/** Screenshots as small files: a PNG of at most 256 colours, the most frequent ones; several as one that moves. Pure. */
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

interface Indexed {
  readonly palette: readonly number[];
  /** Per pixel its place in the palette. */
  readonly places: Uint8Array;
}

/** Colours that are not among the most frequent become the nearest of those. */
function indexed(rgb: Uint8Array): Indexed {
  const colours = new Uint32Array(rgb.length / 3);
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
  const placeOf = new Map(palette.map((colour, at) => [colour, at]));
  const places = Uint8Array.from(colours, (colour) => {
    const place = placeOf.get(colour) ?? nearest(palette, colour);
    placeOf.set(colour, place);
    return place;
  });
  return { palette, places };
}

/** Rows [from, to) of an image, compressed, each after the filter "none". */
function compressedRows(places: Uint8Array, width: number, from: number, to: number): Buffer {
  const rows = Buffer.alloc((to - from) * (width + 1));
  for (let row = from; row < to; row++)
    rows.set(places.subarray(row * width, (row + 1) * width), (row - from) * (width + 1) + 1);
  return deflateSync(rows, { level: 9 });
}

function heads(width: number, height: number, palette: readonly number[]): readonly Buffer[] {
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.set([8, 3, 0, 0, 0], 8);
  const plte = Buffer.from(palette.flatMap((colour) => [colour >> 16, (colour >> 8) & 255, colour & 255]));
  return [signature, chunk("IHDR", head), chunk("PLTE", plte)];
}

export function palettePng({ width, height, rgb }: Pixels): Buffer {
  const { palette, places } = indexed(rgb);
  return Buffer.concat([
    ...heads(width, height, palette),
    chunk("IDAT", compressedRows(places, width, 0, height)),
    chunk("IEND", Buffer.alloc(0)),
  ]);
}

/**
 * Frames of one size as an animated PNG that plays once; of each only the rows that change are in it. What shows no
 * animation shows the last frame.
 * @param seconds how long each is shown
 */
export function animatedPng(frames: readonly Pixels[], seconds: readonly number[]): Buffer {
  const [{ width, height }] = frames as readonly [Pixels, ...Pixels[]];
  const { palette, places } = indexed(Buffer.concat(frames.map(({ rgb }) => rgb)));
  const size = width * height;
  const frameAt = (index: number): Uint8Array => places.subarray(index * size, (index + 1) * size);
  const still = compressedRows(frameAt(frames.length - 1), width, 0, height);
  const parts = [chunk("IDAT", still)];
  let sequence = 0;
  frames.forEach((_, index) => {
    const [from, to] = index === 0 ? [0, height] : changedRows(frameAt(index - 1), frameAt(index), width);
    parts.push(chunk("fcTL", frameControl(sequence++, { width, from, to, seconds: seconds[index] ?? 1 })));
    const data = compressedRows(frameAt(index), width, from, to);
    const numbered = Buffer.alloc(4);
    numbered.writeUInt32BE(sequence++);
    parts.push(chunk("fdAT", Buffer.concat([numbered, data])));
  });
  const animation = Buffer.alloc(8);
  animation.writeUInt32BE(frames.length, 0);
  animation.writeUInt32BE(1, 4);
  const [png, ihdr, plte] = heads(width, height, palette) as [Buffer, Buffer, Buffer];
  return Buffer.concat([png, ihdr, chunk("acTL", animation), plte, ...parts, chunk("IEND", Buffer.alloc(0))]);
}

/** Rows [from, to), at least one. */
function changedRows(before: Uint8Array, now: Uint8Array, width: number): readonly [number, number] {
  const first = now.findIndex((place, i) => place !== before[i]);
  const last = now.findLastIndex((place, i) => place !== before[i]);
  return first < 0 ? [0, 1] : [Math.floor(first / width), Math.floor(last / width) + 1];
}

function frameControl(
  sequence: number,
  { width, from, to, seconds }: { width: number; from: number; to: number; seconds: number },
): Buffer {
  const control = Buffer.alloc(26);
  [sequence, width, to - from, 0, from].forEach((value, at) => control.writeUInt32BE(value, at * 4));
  control.writeUInt16BE(Math.round(seconds * 100), 20);
  control.writeUInt16BE(100, 22);
  return control;
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
