// Zip archives: a .vsix, a wheel, Python's standard library. Entries are {name, bytes, mode}, in the order of the archive.
import { createWriteStream } from "node:fs";
import { buffer } from "node:stream/consumers";
import { pipeline } from "node:stream/promises";
import { promisify } from "node:util";
import yauzl from "yauzl";
import yazl from "yazl";

export async function readZip(file) {
  const zip = await promisify(yauzl.open)(file, { lazyEntries: true, autoClose: true });
  const open = promisify(zip.openReadStream.bind(zip));
  const entries = [];
  await new Promise((resolve, reject) => {
    zip.on("error", reject);
    zip.on("end", resolve);
    zip.on("entry", async (entry) => {
      try {
        const isFolder = entry.fileName.endsWith("/");
        if (!isFolder) entries.push({ name: entry.fileName, bytes: await buffer(await open(entry)) });
        zip.readEntry();
      } catch (error) {
        reject(error);
      }
    });
    zip.readEntry();
  });
  return entries;
}

/** The same bytes for the same entries, in any time zone: a zip has local times. */
const when = { mtime: new Date(1980, 0, 2) };

function zipOf(entries, compress) {
  const zip = new yazl.ZipFile();
  for (const { name, bytes, mode = 0o644 } of entries)
    zip.addBuffer(bytes, name, { ...when, mode: 0o100000 | mode, compress });
  zip.end();
  return zip.outputStream;
}

/** Not compressed: whoever compresses the whole gets further. */
export const storedZip = (entries) => buffer(zipOf(entries, false));
export const writeZip = (file, entries) => pipeline(zipOf(entries, true), createWriteStream(file));
