/** Rewards, environments and tools of the workspace: their files, and what each exports. */
import { statSync } from "node:fs";
import { resolve } from "node:path";
import type { FileSlot } from "../../config/check/method.ts";
import { exportsOf } from "../../config/check/exports.ts";
import { rewardText } from "../hovers/namedText.ts";
import { filesFor } from "./files.ts";
import type { Offer } from "./offer.ts";

const ends = [".ts", ".mts", ".js", ".mjs", ".py"];
const isTest = (name: string): boolean =>
  /\.(?:test|spec|config)\.\w+$|\.d\.ts$|(?:^|\/)test_\w+\.py$/.test(name);

const details: Readonly<Record<FileSlot, string>> = {
  reward: "your own reward function",
  environment: "your own environment",
  tool: "your own tool",
};

/** What a hover would say; of an environment or a tool its file says it. */
const saysOf = (text: string, folder: string, slot: FileSlot): string =>
  slot === "reward" ? rewardText(text, folder).join("\n\n") : "";

export function ownFiles(written: string, folder: string, slot: FileSlot): Offer[] {
  const colon = written.lastIndexOf(":");
  const path = colon < 0 ? undefined : written.slice(0, colon);
  if (path !== undefined) return exportsIn(path, folder, slot);
  return filesFor(written, folder, ends)
    .filter(({ text }) => !isTest(text))
    .map(({ text, folder: isFolder }) => ({
      kind: isFolder ? "folder" : "file",
      text,
      detail: isFolder ? "" : details[slot],
      says: () => (isFolder ? "" : saysOf(text, folder, slot)),
      rank: isFolder ? 800 : 600,
    }));
}

function exportsIn(path: string, folder: string, slot: FileSlot): Offer[] {
  const file = resolve(folder, path);
  try {
    if (!ends.some((end) => path.endsWith(end)) || !statSync(file).isFile()) return [];
    const found = exportsOf(file);
    return found.kind === "broken"
      ? []
      : found.names.map((name): Offer => {
          const text = `${path}:${name}`;
          return { kind: "export", text, says: () => saysOf(text, folder, slot) };
        });
  } catch {
    // A file that is not there, or cannot be read, exports nothing.
    return [];
  }
}
