/** Reward functions of the workspace: their files, and what each exports. */
import { statSync } from "node:fs";
import { resolve } from "node:path";
import { exportsOf } from "../../config/check/exports.ts";
import { rewardText } from "../hovers/namedText.ts";
import { filesFor } from "./files.ts";
import type { Offer } from "./offer.ts";

const ends = [".ts", ".mts", ".js", ".mjs", ".py"];
const isTest = (name: string): boolean =>
  /\.(?:test|spec|config)\.\w+$|\.d\.ts$|(?:^|\/)test_\w+\.py$/.test(name);

export function userRewards(written: string, folder: string): Offer[] {
  const colon = written.lastIndexOf(":");
  const path = colon < 0 ? undefined : written.slice(0, colon);
  if (path !== undefined) return functionsOf(path, folder);
  return filesFor(written, folder, ends)
    .filter(({ text }) => !isTest(text))
    .map(({ text, folder: isFolder }) => ({
      kind: isFolder ? "folder" : "file",
      text,
      detail: isFolder ? "" : "your own reward function",
      says: () => (isFolder ? "" : rewardText(text, folder).join("\n\n")),
      rank: isFolder ? 800 : 600,
    }));
}

function functionsOf(path: string, folder: string): Offer[] {
  const file = resolve(folder, path);
  try {
    if (!ends.some((end) => path.endsWith(end)) || !statSync(file).isFile()) return [];
    const found = exportsOf(file);
    return found.kind === "broken"
      ? []
      : found.names.map((name): Offer => {
          const text = `${path}:${name}`;
          return { kind: "export", text, says: () => rewardText(text, folder).join("\n\n") };
        });
  } catch {
    // A file that is not there, or cannot be read, exports nothing.
    return [];
  }
}
