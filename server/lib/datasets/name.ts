/** How a config names data: a file, a folder, a pattern of files, or a dataset of the Hugging Face Hub. */
import { basename, dirname, resolve } from "node:path";
import { UserError } from "../../../shared/lib/errors.ts";

/** `hf://datasets/org/name@revision/path`, as Hugging Face's own file system writes it. */
export interface HubName {
  /** `org/name`. */
  readonly repo: string;
  /** A branch, a tag or a commit; undefined: `main`. */
  readonly revision: string | undefined;
  /** In the dataset: a file, a folder, a pattern, or the names of a configuration and a split; may be empty. */
  readonly path: string;
}

export const isHubDataset = (name: string): boolean => name.startsWith("hf://");

export const isPattern = (name: string): boolean => /[*?[{]/.test(name);

/** The same data from anywhere: a path is made absolute, a name of the Hub is as it is. */
export const datasetPlace = (folder: string, name: string): string =>
  isHubDataset(name) ? name : resolve(folder, name);

/** What a message calls it. */
export const datasetLabel = (place: string): string => (isHubDataset(place) ? place : basename(place));

/** What its task is called: `train` of `data/train.jsonl`, of `data/train-*.parquet` and of `hf://datasets/org/name/train`. */
export function datasetStem(name: string): string {
  const hub = form.exec(name);
  const path = hub === null ? name : hub[3] === undefined || hub[3] === "" ? (hub[1] ?? name) : hub[3];
  if (!isPattern(path)) return basename(path).replace(/\.[^.]+$/, "");
  const stem = basename(path).replace(/[-_.]?[*?[{].*$/, "");
  return stem === "" ? basename(dirname(path)) : stem;
}

/** Revisions with a slash that the Hub has; the slash of another is written `%2F`. */
const form =
  /^hf:\/\/datasets\/([\w.-]+(?:\/[\w.-]+)?)(?:@(refs\/(?:convert|pr)\/[\w.-]+|[^/@]+))?(?:\/(.*))?$/;

/** `Qwen/Qwen2.5-7B`: a name of the Hub, and a folder only by chance. */
export const isHubName = (name: string): boolean => /^[\w.-]+\/[\w.-]+$/.test(name);

/** What of a dataset of the Hub is meant. */
export interface HubPart {
  readonly revision?: string | undefined;
  /** A configuration, a split, a file: those that are there, in this order. */
  readonly path?: readonly (string | undefined)[];
}

/** The inverse of `hubName`. */
export function hubDataset(repo: string, { revision, path = [] }: HubPart): string {
  const at = revision === undefined ? "" : `@${revision.replaceAll("/", "%2F")}`;
  return ["hf://datasets", `${repo}${at}`, ...path.filter((one) => one !== undefined && one !== "")].join(
    "/",
  );
}

/** @throws UserError where it is none */
export function hubName(name: string): HubName {
  const [, repo, revision, path = ""] = form.exec(name) ?? [];
  const words = [...path.split("/"), ...decoded(revision ?? "").split("/")];
  if (repo === undefined || words.includes(".."))
    throw new UserError(`\`${name}\` names no dataset of the Hugging Face Hub`, {
      code: "hub-name",
      action: "Write `hf://datasets/org/name`, with `@revision` and `/path` where you need them.",
    });
  return { repo, revision: revision === undefined ? undefined : decoded(revision), path };
}

function decoded(revision: string): string {
  if (revision === "~parquet") return "refs/convert/parquet";
  return revision.replaceAll(/%2f/gi, "/");
}
