/** Addresses of lists of rollouts over all steps: those that satisfy a condition, or one task's. */
import { Uri } from "vscode";
import { schemes } from "../../../../shared/editor/contributions.ts";
import { rolloutSorts, type RolloutSort } from "../../../../shared/protocol/protocol.ts";

export type ListAddress =
  | { readonly kind: "found"; readonly run: string; readonly where: string; readonly sort: RolloutSort }
  /** Answers that hold a text. */
  | { readonly kind: "search"; readonly run: string; readonly text: string }
  | { readonly kind: "task"; readonly run: string; readonly task: string };

export const defaultSort: RolloutSort = "-reward";

/** The last part of a path is what a tab is called. */
const title = (text: string): string => text.replaceAll("/", "-").slice(0, 60);

/** A phrase in quotes or an expression between slashes is looked for in the answers; everything else is a condition. */
export const isSearch = (condition: string): boolean => /^\s*["/]/.test(condition);

/**
 * `gradus-rollout-list:/<run>/found/<sort>/<name> · rollouts found?<condition>`, `…/<run>/search/<name> · rollouts found?<text>`,
 * `…/<run>/task/<task> · all steps?<task>`.
 */
export function listUri(address: ListAddress, name: string): Uri {
  const { kind, run } = address;
  const at = (path: string, query: string): Uri =>
    Uri.from({ scheme: schemes.rolloutList, path: `/${run}/${path}`, query });
  if (kind === "task") return at(`task/${title(`${name} · ${address.task}`)} · all steps`, address.task);
  if (kind === "search") return at(`search/${title(name)} · rollouts found`, address.text);
  return at(`found/${address.sort}/${title(name)} · rollouts found`, address.where);
}

export function listOf(uri: Uri): ListAddress {
  const [, run = "", kind = "", sort = ""] = uri.path.split("/");
  if (kind === "task") return { kind, run, task: uri.query };
  if (kind === "search") return { kind, run, text: uri.query };
  return {
    kind: "found",
    run,
    where: uri.query,
    sort: rolloutSorts.find((one) => one === sort) ?? defaultSort,
  };
}
