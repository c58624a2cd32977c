/** A project and a site, checked as a pair: by the site's own Python, and a driver that answers as it was recorded. */
import assert from "node:assert/strict";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { after, describe, it } from "node:test";
import type { Needs } from "../../../server/frameworks/lens/exporter.ts";
import { pairFindings, processesOf, type PairFinding } from "../../../server/sites/check/pairFindings.ts";
import { probeSite, type SiteProbe } from "../../../server/sites/check/probeSite.ts";
import { here } from "../../../server/sites/here.ts";
import type { Shell } from "../../../server/sites/shell.ts";
import { siteSchema } from "../../../server/sites/siteConfig.ts";

const folder = mkdtempSync(join(tmpdir(), "gradus-pair-"));
after(() => rmSync(folder, { recursive: true, force: true }));

const needs: Needs = {
  python: ">=3.8",
  packages: { pip: ">=9", nothing_of_that_name: ">=1" },
  model: null,
  gpus: 0,
  node: false,
  divides: [],
};
const site = siteSchema.parse({ kind: "here", folder: join(folder, "deep", "runs") });

/** `nvidia-smi` of two cards, as a machine with 80 GB ones answered; the second is in use. */
const recorded = `#!/bin/sh
case "$1" in
*compute-apps*) echo "GPU-b, ${process.pid}, 71680" ;;
*) printf '0, GPU-a, NVIDIA H100 80GB HBM3, 81559, 4, 0\\n1, GPU-b, NVIDIA H100 80GB HBM3, 81559, 71684, 97\\n' ;;
esac
`;

const own = process.env["PATH"];
/** This machine's shell, which sees another PATH. */
function shellWith(path: string): Shell {
  process.env["PATH"] = path;
  return here();
}
after(() => void (process.env["PATH"] = own));

function withDriver(text: string): string {
  const bin = join(folder, `bin${text.length}`);
  mkdirSync(bin, { recursive: true });
  writeFileSync(join(bin, "nvidia-smi"), text);
  chmodSync(join(bin, "nvidia-smi"), 0o755);
  return `${bin}${delimiter}${own}`;
}

async function probed(
  more: Partial<Needs> = {},
  path = withDriver("#!/bin/sh\nexit 9\n"),
): Promise<SiteProbe> {
  const found = await probeSite(shellWith(path), site, { ...needs, ...more });
  assert.ok(found !== undefined);
  return found;
}

const bad = (findings: readonly PairFinding[]): string[] =>
  findings
    .filter(({ severity }) => severity !== "ok")
    .map(({ severity, message }) => `${severity} ${message}`);

describe("a site, asked by its own Python", () => {
  it("says its Python, its packages, its disk and that it has no GPU", async () => {
    const probe = await probed();
    assert.match(probe.python.version, /^3\./);
    assert.deepEqual(probe.packages["nothing_of_that_name"], { version: null, fits: false });
    assert.equal(probe.packages["pip"]?.fits, true);
    assert.ok(probe.disk.free > 0 && probe.disk.writable);
    assert.equal(probe.gpus, null);
    assert.deepEqual(bad(pairFindings(site, needs, probe)), ["error nothing_of_that_name is not installed"]);
  });

  it("finds a version outside its range", async () => {
    const other = { ...needs, python: ">=3.99", packages: { pip: "<1" } };
    const probe = await probed(other);
    const [python, pip] = bad(pairFindings(site, other, probe));
    assert.match(python!, /^error Python 3\.\S+ \(.+\) is not >=3\.99, which the trainer needs$/);
    assert.match(pip!, /^error pip \S+ is not <1$/);
  });

  it("lists GPUs, and whose process holds one", async () => {
    const probe = await probed({}, withDriver(recorded));
    assert.equal(probe.gpus?.length, 2);
    const [first, second, ...rest] = pairFindings(site, { ...needs, packages: {} }, probe).filter(
      ({ what }) => what === "gpu",
    );
    assert.equal(first?.message, "GPU 0, NVIDIA H100 80GB HBM3, 0.0 GiB of 79.6 GiB in use, 0 % busy");
    assert.match(second!.message, new RegExp(`97 % busy \\(pid ${process.pid} of \\S+\\) is in use$`));
    assert.equal(second?.severity, "warning");
    assert.deepEqual(rest, []);
  });

  it("compares the launcher's processes with the GPUs that are there", async () => {
    const launch = "accelerate launch --num_processes 8";
    const probe = await probed({}, withDriver(recorded));
    const [, found] = bad(pairFindings({ ...site, launch }, { ...needs, packages: {} }, probe));
    assert.equal(found, "error 8 GPUs are asked for, and the site has 2");
    assert.deepEqual(["torchrun --nproc-per-node=4", "python3", undefined].map(processesOf), [
      4,
      undefined,
      undefined,
    ]);
  });

  it("finds a model in the Hub's cache, in a folder, or not at all", async () => {
    const cache = join(folder, "hub");
    const snapshot = join(cache, "models--org--small", "snapshots", "abc");
    mkdirSync(snapshot, { recursive: true });
    writeFileSync(join(snapshot, "model.safetensors"), "");
    process.env["HF_HUB_CACHE"] = cache;
    try {
      assert.equal((await probed({ model: "org/small" })).model?.there, true);
      const absent = { ...needs, packages: {}, model: "org/other" };
      assert.match(
        bad(pairFindings(site, absent, await probed(absent)))[0]!,
        /^warning org\/other is not in the Hub's cache/,
      );
      process.env["HF_HUB_OFFLINE"] = "1";
      assert.match(
        bad(pairFindings(site, absent, await probed(absent)))[0]!,
        /^error org\/other .* HF_HUB_OFFLINE is set$/,
      );
      const local = { ...absent, model: join(folder, "none") };
      assert.match(bad(pairFindings(site, local, await probed(local)))[0]!, /^error there is no model in /);
    } finally {
      delete process.env["HF_HUB_CACHE"];
      delete process.env["HF_HUB_OFFLINE"];
    }
  });

  it("says that the Python cannot be run, and what divides what", async () => {
    const none = await probeSite(here(), { ...site, python: "./no-python" }, needs);
    assert.equal(none, undefined);
    const divides = [{ whole: "generation_batch_size", part: "num_generations", of: 12, by: 8 }];
    const [batch, python] = pairFindings({ ...site, python: "./no-python" }, { ...needs, divides }, none);
    assert.equal(batch?.message, "generation_batch_size (12) is not a multiple of num_generations (8)");
    assert.equal(batch?.action, "Change one of them: 8 or 16 would do.");
    assert.equal(python?.message, "./no-python cannot be run on the site");
  });

  it("a Python that answers something else is named", () =>
    assert.rejects(
      probeSite(here(), { ...site, python: "/bin/echo" }, needs),
      /\/bin\/echo on this machine could not look at what is there/,
    ));

  it("asks for Node only where a part needs it", async () => {
    const wants = { ...needs, packages: {}, node: true };
    assert.deepEqual(bad(pairFindings(site, wants, await probed(wants))), []);
    const probe = { ...(await probed(wants)), node: "18.20.0" };
    assert.match(bad(pairFindings(site, wants, probe))[0]!, /^error Node 18\.20\.0 is older than 20/);
  });
});
