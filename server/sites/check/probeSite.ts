/** Asks a site what it has: one script, answered by the site's own Python. */
import { readFileSync } from "node:fs";
import { z } from "zod";
import { UserError } from "../../../shared/lib/errors.ts";
import type { Needs } from "../../frameworks/lens/exporter.ts";
import { hostFile } from "../../lib/own/ownProcess.ts";
import { shellQuoted } from "../../../shared/lib/shellQuoted.ts";
import { shellWord, type Shell } from "../shell.ts";
import type { SiteConfig } from "../siteConfig.ts";

const gpu = z.object({
  index: z.number(),
  name: z.string(),
  /** MiB; null: the driver does not say. */
  total: z.number().nullable(),
  used: z.number().nullable(),
  utilization: z.number().nullable(),
  processes: z.array(
    z.object({ pid: z.number(), memory: z.number().nullable(), user: z.string().nullable() }),
  ),
});

const probe = z.object({
  host: z.string(),
  system: z.string(),
  /** `fits` is null where the Python has nothing that reads a range. */
  python: z.object({ version: z.string(), path: z.string(), fits: z.boolean().nullable() }),
  packages: z.record(z.string(), z.object({ version: z.string().nullable(), fits: z.boolean().nullable() })),
  gpus: z.array(gpu).nullable(),
  model: z.object({ kind: z.enum(["folder", "hub"]), there: z.boolean(), offline: z.boolean() }).nullable(),
  /** Bytes free where the project goes. */
  disk: z.object({ free: z.number(), writable: z.boolean() }),
  node: z.string().nullable(),
  tools: z.record(z.string(), z.boolean()),
});

export type SiteProbe = z.output<typeof probe>;
export type GpuState = z.output<typeof gpu>;

/**
 * @returns undefined: the site's Python does not start
 * @throws UserError where the site does not answer, or its Python answers with something else
 */
export async function probeSite(
  shell: Shell,
  { python, folder, node }: Pick<SiteConfig, "python" | "folder" | "node">,
  needs: Needs,
): Promise<SiteProbe | undefined> {
  const args = [JSON.stringify(needs), folder, node].map(shellQuoted);
  const answer = await shell.run(`exec ${shellWord(python)} - ${args.join(" ")}`, {
    input: readFileSync(hostFile("siteProbe.py", undefined)),
  });
  // 126: it may not be run; 127: there is no such program.
  if (answer.code === 126 || answer.code === 127) return undefined;
  const read = answer.code === 0 ? probe.safeParse(parsed(answer.stdout.toString("utf8"))) : undefined;
  if (read?.success === true) return read.data;
  const said = answer.stderr.trim().split("\n").at(-1) ?? "";
  throw new UserError(
    `${python} on ${shell.name} could not look at what is there (exit ${answer.code})${said === "" ? "" : `: ${said}`}`,
    {
      code: "site-probe",
      action: "Name another `python` in the site's file: 3.8 or newer.",
    },
  );
}

/** The last line: a shell's own start files may print before it. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text.trim().split("\n").at(-1) ?? "");
  } catch {
    return undefined;
  }
}
