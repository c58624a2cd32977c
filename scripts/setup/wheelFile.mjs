// Taking files out of a wheel, which is a zip archive, by Node alone: there may be no Python here, and no package yet.
import { createReadStream, createWriteStream, mkdirSync } from "node:fs";
import { open } from "node:fs/promises";
import { dirname, resolve, sep } from "node:path";
import { pipeline } from "node:stream/promises";
import { createInflateRaw } from "node:zlib";
import { SetupError } from "./process.mjs";

const END = 0x06054b50;
const ENTRY = 0x02014b50;
/** The end record, and the longest comment that may follow it. */
const most = 22 + 0xffff;

const broken = (file) =>
  new SetupError(`${file} is no wheel, or not all of it`, "start again: it is fetched anew");

async function bytesAt(handle, position, length) {
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, position);
  return buffer.subarray(0, bytesRead);
}

/** [{name, method, packed, at}] of an archive's own list. https://pkware.cachefly.net/webdocs/APPNOTE/APPNOTE-6.3.9.TXT */
async function entriesOf(handle, file) {
  const { size } = await handle.stat();
  const tail = await bytesAt(handle, Math.max(0, size - most), Math.min(size, most));
  let end = tail.length - 22;
  while (end >= 0 && tail.readUInt32LE(end) !== END) end--;
  if (end < 0) throw broken(file);
  const list = await bytesAt(handle, tail.readUInt32LE(end + 16), tail.readUInt32LE(end + 12));
  const entries = [];
  for (let at = 0; at + 46 <= list.length;) {
    if (list.readUInt32LE(at) !== ENTRY) throw broken(file);
    const [name, extra, comment] = [28, 30, 32].map((offset) => list.readUInt16LE(at + offset));
    entries.push({
      name: list.toString("utf8", at + 46, at + 46 + name),
      method: list.readUInt16LE(at + 10),
      packed: list.readUInt32LE(at + 20),
      mode: list.readUInt32LE(at + 38) >>> 16,
      at: list.readUInt32LE(at + 42),
    });
    at += 46 + name + extra + comment;
  }
  return entries;
}

async function take(handle, file, { name, method, packed, mode, at }, path) {
  if (packed === 0xffffffff || at === 0xffffffff || (method !== 0 && method !== 8))
    throw new SetupError(`${name} in ${file} is packed in a way that is not read here`);
  const header = await bytesAt(handle, at, 30);
  const start = at + 30 + header.readUInt16LE(26) + header.readUInt16LE(28);
  mkdirSync(dirname(path), { recursive: true });
  const sink = createWriteStream(path, { mode: (mode & 0o111) === 0 ? 0o644 : 0o755 });
  if (packed === 0) return void sink.end();
  const source = createReadStream(file, { start, end: start + packed - 1 });
  await (method === 8 ? pipeline(source, createInflateRaw(), sink) : pipeline(source, sink));
}

/**
 * Writes members of a wheel below `folder`.
 * @param members [name, path, without?] each; of a name that ends in `/` all that lies below it goes below the path, but what
 *   has `without` in its name
 * @throws SetupError where one is missing, or would lie outside
 */
export async function takeFromWheel(file, folder, members) {
  const handle = await open(file);
  try {
    const entries = await entriesOf(handle, file);
    for (const [member, path, without] of members) {
      const found = entries.filter(({ name }) =>
        member.endsWith("/")
          ? name.startsWith(member) && !name.endsWith("/") && !(without && name.includes(without))
          : name === member,
      );
      if (found.length === 0) throw new SetupError(`${file} holds no ${member}`);
      for (const entry of found) {
        const target = resolve(folder, `${path}${entry.name.slice(member.length)}`);
        if (!target.startsWith(`${resolve(folder)}${sep}`))
          throw new SetupError(`${file} has a member outside its folder: ${entry.name}`);
        await take(handle, file, entry, target);
      }
    }
  } finally {
    await handle.close();
  }
}
