/** The discovery file: how a client finds the daemon of a store, and the token that proves it may talk to it. */
import { randomBytes } from "node:crypto";
import { lstatSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { z } from "zod";
import { placeSchema } from "./place.ts";
import { putInPlace } from "../lib/putInPlace.mjs";

const schema = z.object({
  instance: z.string().min(8),
  pid: z.number().int().positive(),
  processStart: z.string(),
  /** Machine, boot and PID namespace in which that pid counts. */
  place: placeSchema.optional(),
  startedAt: z.string(),
  socketPath: z.string(),
  /** 32 random bytes, hexadecimal. Sent only in `gradus/hello`; never in arguments, environment or a log. */
  token: z.string(),
  protocol: z.number().int(),
  version: z.string(),
  node: z.string(),
});
export type Discovery = z.infer<typeof schema>;

/** What the file says; null when it is absent, damaged, or not a file of ours alone. */
export function readDiscovery(path: string): Discovery | null {
  try {
    const found = lstatSync(path);
    if (!found.isFile()) return null;
    if (process.platform !== "win32" && (found.uid !== process.getuid?.() || (found.mode & 0o077) !== 0))
      return null;
    return schema.parse(JSON.parse(readFileSync(path, "utf8")));
  } catch {
    return null; // no daemon has announced itself
  }
}

/** Written to a temporary name and renamed: readers see the old file or the new one. */
export function writeDiscovery(path: string, discovery: Discovery): void {
  const draft = `${path}.${randomBytes(4).toString("hex")}`;
  writeFileSync(draft, JSON.stringify(discovery, null, 2), { mode: 0o600, flag: "wx" });
  putInPlace(draft, path);
}

/** Removes the file only if it announces this instance. */
export function removeDiscovery(path: string, instance: string): void {
  if (readDiscovery(path)?.instance === instance) rmSync(path, { force: true });
}
