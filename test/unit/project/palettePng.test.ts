import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { crc32, deflateSync, inflateSync } from "node:zlib";
import { decodePng, palettePng } from "../../pictures/palettePng.ts";

/** A PNG whose rows have these filters and bytes, as an encoder would write them. */
function png(width: number, rows: readonly (readonly number[])[]): Buffer {
  const chunk = (kind: string, data: Buffer): Buffer => {
    const body = Buffer.concat([Buffer.from(kind, "latin1"), data]);
    const ends = [data.length, crc32(body)].map((value) => {
      const four = Buffer.alloc(4);
      four.writeUInt32BE(value);
      return four;
    });
    return Buffer.concat([ends[0]!, body, ends[1]!]);
  };
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(rows.length, 4);
  head.set([8, 2, 0, 0, 0], 8);
  return Buffer.concat([
    Buffer.from("89504e470d0a1a0a", "hex"),
    chunk("IHDR", head),
    chunk("IDAT", deflateSync(Buffer.from(rows.flat()))),
    chunk("IEND", Buffer.alloc(0)),
  ]);
}

test("each filter of a row is taken back", () => {
  const rows = [
    [0, 10, 20, 30, 40, 50, 60],
    [1, 1, 2, 3, 1, 1, 1],
    [2, 5, 5, 5, 250, 0, 0],
    [3, 1, 1, 1, 1, 1, 1],
    [4, 1, 1, 1, 1, 1, 1],
  ];
  const { rgb } = decodePng(png(2, rows));
  assert.deepEqual(
    [...rgb],
    [
      ...[10, 20, 30, 40, 50, 60],
      ...[1, 2, 3, 2, 3, 4],
      ...[6, 7, 8, 252, 3, 4],
      ...[4, 4, 5, 129, 4, 5],
      ...[5, 5, 6, 130, 6, 7],
    ],
  );
});

test("a picture of few colours stays as it is; of many, the frequent ones do", () => {
  const width = 300;
  const few = new Uint8Array(width * 3).map((_, i) => (Math.floor(i / 3) % 7) * 30);
  assert.deepEqual(read(palettePng({ width, height: 1, rgb: few })), [...few]);
  // 300 greys that differ, and the first of them once more.
  const many = new Uint8Array(width * 2 * 3).map((_, i) => {
    const pixel = Math.floor(i / 3);
    return pixel < width ? (i % 3 === 2 ? Math.floor(pixel / 2) : pixel % 2) : 200;
  });
  const kept = read(palettePng({ width, height: 2, rgb: many }));
  assert.deepEqual(kept.slice(width * 3), [...many.slice(width * 3)], "the frequent colour");
  const off = kept.map((value, i) => Math.abs(value - many[i]!));
  assert.ok(Math.max(...off) <= 22 && off.some((one) => one > 0));
});

test("the pictures of the walkthrough are such files", () => {
  const picture = readFileSync("media/walkthrough/watch-dark.png");
  assert.equal(read(picture).length, picture.readUInt32BE(16) * picture.readUInt32BE(20) * 3);
});

/** Pixels of a PNG with a palette. */
function read(file: Buffer): number[] {
  const [width, height] = [file.readUInt32BE(16), file.readUInt32BE(20)];
  const parts = new Map<string, Buffer>();
  for (let at = 8; at < file.length; at += 12 + file.readUInt32BE(at))
    parts.set(file.toString("latin1", at + 4, at + 8), file.subarray(at + 8, at + 8 + file.readUInt32BE(at)));
  const [palette, rows] = [parts.get("PLTE")!, inflateSync(parts.get("IDAT")!)];
  return Array.from({ length: width * height }, (_, i) => {
    const place = rows[Math.floor(i / width) * (width + 1) + 1 + (i % width)]! * 3;
    return [...palette.subarray(place, place + 3)];
  }).flat();
}
