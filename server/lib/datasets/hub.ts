/** Datasets of the Hugging Face Hub, as they lie in its cache on this machine. Nothing is downloaded. */
import { existsSync, readdirSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { UserError } from "../../../shared/lib/errors.ts";
import { readText, statsOf } from "../inputFile.ts";
import type { HubName } from "./name.ts";
import { relativePath } from "../../../shared/lib/slashes.ts";

export interface Snapshot {
  /** The folder with the dataset's files as they are at the revision. */
  readonly folder: string;
  /** As a message names the revision. */
  readonly revision: string;
}

/** Where `huggingface_hub` keeps what it has downloaded, by the same variables. */
export function hubCache(): string {
  const { HF_HUB_CACHE, HUGGINGFACE_HUB_CACHE, HF_HOME, XDG_CACHE_HOME } = process.env;
  const [own] = [HF_HUB_CACHE, HUGGINGFACE_HUB_CACHE].filter(isSet);
  const [home] = [HF_HOME].filter(isSet);
  const [cache] = [XDG_CACHE_HOME].filter(isSet);
  const path = own ?? join(home ?? join(cache ?? "~/.cache", "huggingface"), "hub");
  return path.replace(/^~(?=[\\/]|$)/, homedir());
}

/** The datasets that are in the cache, as `org/name`. */
export function cachedDatasets(): string[] {
  const cache = hubCache();
  if (!existsSync(cache)) return [];
  return readdirSync(cache)
    .flatMap((name) => /^datasets--(.+)$/.exec(name)?.slice(1) ?? [])
    .map((name) => name.replace("--", "/"))
    .sort();
}

const isSet = (value: string | undefined): value is string => value !== undefined && value !== "";

/** What downloads it, or a part of it. */
export function downloadCommand({ repo, revision }: HubName, path = ""): string {
  const part = path === "" ? "" : /[*?[]/.test(path) ? ` --include "${path}"` : ` ${path}`;
  return `hf download ${repo}${part} --repo-type dataset${revision === undefined ? "" : ` --revision ${revision}`}`;
}

/** @throws UserError with the command that downloads it, where the dataset or the revision is not in the cache */
export function snapshotOf(name: HubName): Snapshot {
  const cache = hubCache();
  const place = join(cache, `datasets--${name.repo.replaceAll("/", "--")}`);
  if (!existsSync(join(place, "snapshots")))
    throw new UserError(`the dataset \`${name.repo}\` is not in the Hugging Face cache (${cache})`, {
      code: "hub-missing",
      action: `Download it: \`${downloadCommand(name)}\`.`,
    });
  const revision = name.revision ?? "main";
  const commit = commitOf(place, revision);
  const folder = join(place, "snapshots", commit ?? "");
  if (commit !== undefined && existsSync(folder)) return { folder, revision };
  throw new UserError(
    `the Hugging Face cache has \`${name.repo}\`, but not its revision \`${revision}\`: it has ${revisionsOf(place).join(", ") || "none"}`,
    {
      code: "hub-revision",
      action: `Name one of these after an \`@\`, or download the revision: \`${downloadCommand({ ...name, revision })}\`.`,
    },
  );
}

/** A commit may be named by its first letters, as Git does. */
const isCommit = (text: string): boolean => /^[0-9a-f]{7,40}$/.test(text);

function commitOf(place: string, revision: string): string | undefined {
  const ref = join(place, "refs", ...revision.split("/"));
  if (statsOf(ref)?.isFile() === true) return readText(ref, 4096).trim();
  const found = isCommit(revision) ? commitsOf(place).filter((commit) => commit.startsWith(revision)) : [];
  return found.length === 1 ? found[0] : undefined;
}

const commitsOf = (place: string): string[] => readdirSync(join(place, "snapshots")).sort();

/** Branches and tags, then the commits that none of them is at. */
function revisionsOf(place: string): string[] {
  const refs = join(place, "refs");
  const names = existsSync(refs)
    ? readdirSync(refs, { withFileTypes: true, recursive: true })
        .filter((entry) => entry.isFile())
        .map((entry) => relativePath(refs, join(entry.parentPath, entry.name)))
        .sort()
    : [];
  const named = names.map((name) => commitOf(place, name));
  const commits = commitsOf(place).filter((commit) => !named.includes(commit));
  return [...names, ...commits.map((commit) => commit.slice(0, 12))].map((one) => `\`${one}\``);
}
