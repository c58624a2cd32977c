/** `gradus run FILE --site SITE`: what is looked at before anything starts, here and there. */
import { copiedWord } from "../../../shared/lib/copiedWord.ts";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { plural } from "../../../shared/lib/format.ts";
import { readText, limits } from "../../lib/inputFile.ts";
import { UserError } from "../../../shared/lib/errors.ts";
import type { RunConfig } from "../../core/config/runConfig.ts";
import { checkPair } from "../../sites/check/checkPair.ts";
import type { PairFinding } from "../../sites/check/pairFindings.ts";
import { costLines, type CostEstimate } from "../../sites/cost.ts";
import { engineOf, projectFor, type Project } from "../../sites/project.ts";
import { siteOf, type Site } from "../../sites/siteOf.ts";
import { exit, print, printJson } from "../command.ts";
import { pathText } from "../text/diagnostics.ts";
import { expectedCost } from "./expectedCost.ts";
import { findingLines, projectLines } from "./siteText.ts";
import { fileName } from "../../../shared/lib/fileName.ts";

declare const GRADUS_VERSION: string;

export interface SiteOptions {
  readonly site: string;
  readonly store: string;
  readonly json?: boolean | undefined;
}

interface Looked {
  readonly site: Site;
  readonly project: Project;
  readonly findings: readonly PairFinding[];
}

/** Writes the project into a folder and asks the site; nothing is brought there. */
async function look(config: RunConfig, { site: named }: SiteOptions, folder: string): Promise<Looked> {
  engineOf(config);
  const site = siteOf(named, dirname(config.file));
  try {
    const text = readText(config.file, limits.source);
    const project = await projectFor({ config, text, site: site.config, folder, version: GRADUS_VERSION });
    return { site, project, findings: await checkPair(site, project.needs) };
  } finally {
    site.shell.close();
  }
}

const failed = (findings: readonly PairFinding[]): boolean =>
  findings.some(({ severity }) => severity === "error");

/** `--dry-run`: every file and every finding, and what it is going to take; nothing is started. */
export async function dryRunOnSite(config: RunConfig, options: SiteOptions): Promise<void> {
  const { site, project, findings } = await look(
    config,
    options,
    join(options.store, "export", fileName(config.name)),
  );
  const cost = await expectedCost(config, site, options.store);
  if (failed(findings)) process.exitCode = exit.failed;
  if (options.json === true)
    return printJson({
      type: "site-dry-run",
      ...{ site: site.name, engine: project.engine, release: project.release, folder: project.folder },
      ...{ files: project.files, missing: project.missing, findings, cost },
    });
  printAll({ site, project, findings }, cost);
}

function printAll({ site, project, findings }: Looked, cost: CostEstimate): void {
  print(projectLines(pathText(project.folder), project.release, project).join("\n"));
  print(`\n${siteText(site)}`);
  print(findingLines(findings).join("\n"));
  print(
    `\ncost\n${costLines(cost)
      .map((line) => `  ${line}`)
      .join("\n")}`,
  );
}

function siteText({ name, config }: Site): string {
  switch (config.kind) {
    case "here":
      return "this machine";
    case "ssh":
      return `${name}  (ssh ${config.host})`;
    case "slurm":
      return `${name}  (Slurm${config.host === undefined ? "" : ` by ssh ${config.host}`})`;
    case "skypilot":
      return `${name}  (SkyPilot's cluster ${config.cluster})`;
    case "ray":
      return `${name}  (Ray at ${config.address})`;
  }
}

/**
 * Before a launch; the project is only looked at.
 * @returns what finds the site again, from wherever the run is, and the seconds that it is expected to take
 * @throws UserError where the pair cannot work
 */
export async function refuseBadPair(
  config: RunConfig,
  options: SiteOptions,
): Promise<{ readonly reference: string; readonly estimate: { low: number; high: number } | undefined }> {
  const folder = mkdtempSync(join(tmpdir(), "gradus-project-"));
  try {
    const looked = await look(config, options, join(folder, "project"));
    refuse(config, looked, options.json === true);
    const { seconds } = await expectedCost(config, looked.site, options.store);
    const estimate = seconds === null ? undefined : { low: seconds.low, high: seconds.high };
    return { reference: looked.site.reference, estimate };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function refuse(config: RunConfig, { site, project, findings }: Looked, quiet: boolean): void {
  const said = findings.filter(({ severity }) => severity !== "ok");
  if (!quiet && said.length > 0) print(findingLines(said).join("\n"));
  const first = findings.find(({ severity }) => severity === "error");
  if (first !== undefined)
    throw new UserError(`The run cannot start on ${site.name}: ${first.message}`, {
      file: config.file,
      code: "site-pair",
      ...(first.action === undefined ? {} : { action: first.action }),
    });
  const changing = project.missing.filter(({ changes }) => changes === "algorithm").length;
  if (!quiet && changing > 0)
    print(
      `${plural(changing, "choice")} of the config ${changing === 1 ? "does" : "do"} not act under ${project.release}: gradus run ${copiedWord(pathText(config.file))} --site ${copiedWord(site.name)} --dry-run lists them`,
    );
}
