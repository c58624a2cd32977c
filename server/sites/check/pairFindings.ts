/** Whether a project and a site go together, before anything starts. */
import type { Needs } from "../../frameworks/lens/exporter.ts";
import type { SiteConfig } from "../siteConfig.ts";
import type { GpuState, SiteProbe } from "./probeSite.ts";

export interface PairFinding {
  readonly severity: "ok" | "warning" | "error";
  readonly what: "python" | "package" | "gpu" | "model" | "disk" | "node" | "tools" | "batch";
  readonly message: string;
  /** The next action, where there is one. */
  readonly action?: string;
}

type Site = Pick<SiteConfig, "python" | "folder" | "node" | "launch" | "env">;

/** Bytes that a project, its log and a few small checkpoints take; below it a run is going to fail. */
const leastDisk = 2 * 2 ** 30;
/** A share of a GPU's memory above which somebody else is using it. */
const busyShare = 0.1;

const gib = (bytes: number): string => `${(bytes / 2 ** 30).toFixed(1)} GiB`;
const ok = (what: PairFinding["what"], message: string): PairFinding => ({ severity: "ok", what, message });
const error = (what: PairFinding["what"], message: string, action: string): PairFinding => ({
  severity: "error",
  what,
  message,
  action,
});
const warning = (what: PairFinding["what"], message: string, action?: string): PairFinding => ({
  severity: "warning",
  what,
  message,
  ...(action === undefined ? {} : { action }),
});

/** @param probe undefined: the site's Python does not start */
export function pairFindings(site: Site, needs: Needs, probe: SiteProbe | undefined): PairFinding[] {
  if (probe === undefined)
    return [
      ...batchFindings(needs),
      error(
        "python",
        `${site.python} cannot be run on the site`,
        "Set `python` in the site's file to the one that has the trainer's packages.",
      ),
    ];
  return [
    ...batchFindings(needs),
    ...pythonFindings(site, needs, probe),
    ...packageFindings(site, needs, probe),
    ...gpuFindings(site, needs, probe),
    ...modelFindings(needs, probe),
    ...diskFindings(site, probe),
    ...nodeFindings(site, needs, probe),
    ...toolFindings(probe),
  ];
}

/** The same arithmetic as the trainer's own, before it is started. */
const batchFindings = ({ divides }: Needs): PairFinding[] =>
  divides
    .filter(({ of, by }) => by === 0 || of % by !== 0)
    .map(({ whole, part, of, by }) =>
      error(
        "batch",
        `${whole} (${of}) is not a multiple of ${part} (${by})`,
        `Change one of them: ${multiples(of, by)}.`,
      ),
    );

/** The two multiples on both sides. */
const multiples = (of: number, by: number): string => {
  const below = Math.floor(of / by) * by;
  return below > 0 ? `${below} or ${below + by} would do` : `${by} would do`;
};

function pythonFindings(site: Site, needs: Needs, { python }: SiteProbe): PairFinding[] {
  const said = `Python ${python.version} (${python.path})`;
  if (python.fits === false)
    return [
      error(
        "python",
        `${said} is not ${needs.python}, which the trainer needs`,
        `Set \`python\` in the site's file to one that is: it is ${site.python} now.`,
      ),
    ];
  return [ok("python", said)];
}

const packageFindings = (site: Site, needs: Needs, { packages }: SiteProbe): PairFinding[] =>
  Object.entries(needs.packages).map(([name, wanted]) => {
    const { version = null, fits = false } = packages[name] ?? {};
    const install = `On the site: ${site.python} -m pip install '${name}${wanted}'.`;
    if (version === null) return error("package", `${name} is not installed`, install);
    if (fits === false) return error("package", `${name} ${version} is not ${wanted}`, install);
    return ok("package", `${name} ${version}`);
  });

const busy = ({ total, used }: GpuState): boolean =>
  used !== null && total !== null && used > busyShare * total;

const gpuText = ({ index, name, total, used, utilization, processes }: GpuState): string => {
  const memory =
    total === null || used === null ? "" : `, ${gib(used * 2 ** 20)} of ${gib(total * 2 ** 20)} in use`;
  const load = utilization === null ? "" : `, ${utilization} % busy`;
  const by = processes.map(({ pid, user }) => `pid ${pid}${user === null ? "" : ` of ${user}`}`);
  return `GPU ${index}, ${name}${memory}${load}${by.length === 0 ? "" : ` (${by.join(", ")})`}`;
};

function gpuFindings(site: Site, needs: Needs, { gpus }: SiteProbe): PairFinding[] {
  const wanted = Math.max(needs.gpus, processesOf(site.launch) ?? 0);
  if (gpus === null)
    return needs.gpus > 0
      ? [
          error(
            "gpu",
            `the trainer needs ${needs.gpus} GPUs, and nvidia-smi does not answer on the site`,
            "Choose a site with GPUs, or install NVIDIA's driver there.",
          ),
        ]
      : [ok("gpu", "no NVIDIA GPU: it trains on the CPU")];
  const listed = gpus.map((one) =>
    busy(one)
      ? warning(
          "gpu",
          `${gpuText(one)} is in use`,
          "Wait for it, or leave it out: `env: { CUDA_VISIBLE_DEVICES: … }`.",
        )
      : ok("gpu", gpuText(one)),
  );
  if (gpus.length < wanted)
    listed.push(
      error(
        "gpu",
        `${wanted} GPUs are asked for, and the site has ${gpus.length}`,
        needs.gpus > gpus.length
          ? "Choose another site, or ask for fewer."
          : `Lower \`--num_processes\` in the site's \`launch\` to ${gpus.length}.`,
      ),
    );
  return listed;
}

/** Processes that a launcher starts: `accelerate launch --num_processes 8`, `torchrun --nproc-per-node=8`. */
export function processesOf(launch: string | undefined): number | undefined {
  const found = /--(?:num[-_]processes|nproc[-_]per[-_]node)[ =](\d+)/.exec(launch ?? "");
  return found === null ? undefined : Number(found[1]);
}

function modelFindings(needs: Needs, { model }: SiteProbe): PairFinding[] {
  if (needs.model === null || model === null) return [ok("model", "the model is part of the project")];
  if (model.there) return [ok("model", `${needs.model} is on the site`)];
  if (model.kind === "folder")
    return [
      error(
        "model",
        `there is no model in ${needs.model} on the site`,
        "Copy it there, or name another folder in `model.base`.",
      ),
    ];
  const download = `On the site: hf download ${needs.model}.`;
  return model.offline
    ? [error("model", `${needs.model} is not in the Hub's cache, and HF_HUB_OFFLINE is set`, download)]
    : [
        warning(
          "model",
          `${needs.model} is not in the Hub's cache: it is downloaded when the run starts`,
          download,
        ),
      ];
}

function diskFindings(site: Site, { disk }: SiteProbe): PairFinding[] {
  if (!disk.writable)
    return [error("disk", `${site.folder} cannot be written`, "Name another `folder` in the site's file.")];
  if (disk.free < leastDisk)
    return [
      error(
        "disk",
        `${gib(disk.free)} are free where ${site.folder} lies`,
        "Free some space there, or name another `folder` in the site's file.",
      ),
    ];
  return [ok("disk", `${gib(disk.free)} free in ${site.folder}`)];
}

/** The oldest that runs a bundled curriculum. */
const leastNode = 20;

function nodeFindings({ node, env }: Site, needs: Needs, probe: SiteProbe): PairFinding[] {
  if (!needs.node) return [];
  const major = probe.node === null ? undefined : Number(probe.node.split(".")[0]);
  if (major !== undefined && major >= leastNode) return [ok("node", `Node ${probe.node}`)];
  const found =
    probe.node === null
      ? `${node} cannot be run on the site`
      : `Node ${probe.node} is older than ${leastNode}`;
  if (env["GRADUS_SERVICE"] === "off")
    return [
      warning("node", `${found}, and GRADUS_SERVICE is off: MISSING.md says what trains without the service`),
    ];
  return [
    error(
      "node",
      `${found}: the curriculum and the TypeScript rewards need it`,
      "Install Node 20 or newer there and set `node` in the site's file; or train without them, as MISSING.md says: `env: { GRADUS_SERVICE: off }`.",
    ),
  ];
}

function toolFindings({ tools, system }: SiteProbe): PairFinding[] {
  if (system !== "Linux") return [warning("tools", `the site runs ${system}: jobs are tried on Linux alone`)];
  const absent = Object.entries(tools).flatMap(([name, there]) => (there ? [] : [name]));
  return absent.length === 0
    ? []
    : [error("tools", `the site lacks ${absent.join(", ")}`, "Install it there: util-linux has setsid.")];
}
