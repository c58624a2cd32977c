/** A site by its name. */
import { existsSync } from "node:fs";
import { basename, dirname, extname, join, resolve } from "node:path";
import { refuseOthers } from "../../shared/daemon/ownership.ts";
import { UserError } from "../../shared/lib/errors.ts";
import { here } from "./here.ts";
import type { Shell } from "./shell.ts";
import { siteSchema, type SiteConfig } from "./siteConfig.ts";
import { processes } from "./jobs/processes.ts";
import { ray } from "./jobs/ray.ts";
import type { Runner } from "./jobs/runner.ts";
import { skypilot } from "./jobs/skypilot.ts";
import { slurm } from "./jobs/slurm.ts";
import { readSite } from "./siteFile.ts";
import { ssh } from "./ssh.ts";

export interface Site {
  /** As messages have it. */
  readonly name: string;
  /** What finds it again: its name, or the absolute path of its file where one was named. */
  readonly reference: string;
  readonly config: SiteConfig;
  readonly shell: Shell;
  readonly runner: Runner;
}

const endings = [".yaml", ".yml"];

/**
 * A path of a YAML file; else a file of the nearest folder `sites` that has it; else `here`, or a host of ssh.
 * @param from the folder from which a path begins, and `sites` is looked for upwards: that of the config
 * @param env of whoever asks, where that is not this process
 * @throws UserError where its file has an error, or the name can be no host's
 */
export function siteOf(reference: string, from: string, env?: NodeJS.ProcessEnv): Site {
  const isPath = /[\\/]/.test(reference) || endings.includes(extname(reference));
  const file = isPath ? resolve(from, reference) : fileOf(reference, resolve(from));
  if (file !== undefined) {
    const name = basename(file, extname(file));
    return siteWith(name, isPath ? file : reference, readSite(file), { env, folder: dirname(file) });
  }
  if (reference === "here") return siteWith("here", "here", siteSchema.parse({ kind: "here" }), { env });
  if (!/^[^\s-]\S*$/.test(reference))
    throw new UserError(`${JSON.stringify(reference)} is the name of no host.`, {
      code: "site-name",
      action: "Name a file of `sites/`, an alias of ~/.ssh/config, user@host, or `here`.",
    });
  return siteWith(reference, reference, siteSchema.parse({ kind: "ssh", host: reference }), { env });
}

function siteWith(
  name: string,
  reference: string,
  config: SiteConfig,
  { env, folder = "." }: { readonly env?: NodeJS.ProcessEnv | undefined; readonly folder?: string } = {},
): Site {
  const host = hostOf(config);
  const port = "port" in config ? config.port : undefined;
  const shell =
    host === undefined ? here() : ssh({ host, name, port, ...(env === undefined ? {} : { env }) });
  return { name, reference, config, shell, runner: runnerOf(config, shell, folder) };
}

/** The machine whose shell it is; undefined: this one. */
function hostOf(config: SiteConfig): string | undefined {
  if (config.kind === "here") return undefined;
  return config.kind === "skypilot" ? config.cluster : config.host;
}

/** @param folder of the site's file: its paths are from there */
function runnerOf(config: SiteConfig, shell: Shell, folder: string): Runner {
  switch (config.kind) {
    case "here":
    case "ssh":
      return processes(shell);
    case "slurm":
      return slurm({ shell, options: config.sbatch });
    case "skypilot":
      return skypilot({ ...config, local: here(), task: resolve(folder, config.task) });
    case "ray":
      return ray(config);
  }
}

function fileOf(name: string, from: string): string | undefined {
  for (let folder = from; ; folder = dirname(folder)) {
    const found = endings.map((ending) => join(folder, "sites", `${name}${ending}`)).find(existsSync);
    // A folder above may be anyone's: its site would take the place of a host, and be given the project.
    for (const path of found === undefined ? [] : [dirname(found), found]) refuseOthers(path, "site");
    if (found !== undefined || dirname(folder) === folder) return found;
  }
}

export interface SitePlace {
  readonly site: string;
  readonly folder: string;
}

/**
 * `box:runs/out` as a folder of a site, as scp reads it, and `[::1]:out` or `sites/box.yaml:out`; undefined: a path of this machine,
 * as `C:\x` is.
 */
export function sitePlace(word: string): SitePlace | undefined {
  const [, bracketed, file, plain, folder = ""] =
    /^(?:\[([^\]/\\]+)\]|([^:]+\.ya?ml)|([^:/\\[\]]{2,})):([^]*)$/.exec(word) ?? [];
  const site = bracketed ?? file ?? plain;
  return site === undefined || existsSync(word) ? undefined : { site, folder: folder === "" ? "." : folder };
}
