/** `gradus runs import box:runs/out`: a folder of another machine. */
import { randomBytes } from "node:crypto";
import { rmSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";
import { ask, refusedAs } from "../../../shared/daemon/request.ts";
import { UserError } from "../../../shared/lib/errors.ts";
import { formatBytes } from "../../../shared/lib/format.ts";
import { runsImport, type InputOf, type ResultOf } from "../../../shared/protocol/protocol.ts";
import { configFolder, fetchFile } from "../../sites/fetchFile.ts";
import { Mirror } from "../../sites/mirror.ts";
import { siteOf, sitePlace, type SitePlace } from "../../sites/siteOf.ts";
import { reachingHere } from "../../sites/ssh.ts";
import { sitePlaceText } from "../../../shared/run/origin.ts";
import { mirrorPath } from "../../store/files.ts";
import type { PulledMirror } from "../../store/imported/importRequest.ts";
import { draftFolder } from "../../store/imported/runDraft.ts";
import { complain } from "../command.ts";
import { withDaemon } from "../runs/store.ts";
import { isSamePath, liesIn } from "../../../shared/lib/liesIn.ts";
import { relativePath } from "../../../shared/lib/slashes.ts";

export interface PulledFolder {
  /** What is imported. */
  readonly folder: string;
  readonly mirror: PulledMirror;
  /** What `--config` names, as a file of this machine. */
  readonly config: string | false | undefined;
  /** A path of it as it is there. */
  readonly shown: (path: string) => string;
  /** The same of an error. */
  readonly failure: (error: unknown) => unknown;
  /** Removes what did not become a run. */
  readonly discard: () => void;
}

/** Brings the folder once. @param store where it becomes a part of a run */
export async function pulledFolder(
  store: string,
  { site: reference, folder }: SitePlace,
  named: string | false | undefined,
  progress: (bytes: number) => void,
): Promise<PulledFolder> {
  const site = siteOf(reference, process.cwd());
  const draft = draftFolder(store, randomBytes(4).toString("hex"));
  const root = mirrorPath(draft);
  const discard = (): void => rmSync(draft, { recursive: true, force: true });
  try {
    const mirror = new Mirror(site.shell, folder, root);
    for (let more = true; more;) {
      const pulled = await mirror.pull({ most: someBytes });
      more = pulled.more;
      progress(pulled.bytes);
      for (const { path, bytes } of pulled.leftOut)
        complain(`${path} was left out because of its size: ${formatBytes(bytes)}`);
    }
    const of = typeof named === "string" ? sitePlace(named) : undefined;
    const config =
      of === undefined
        ? named
        : await fetchFile(siteOf(of.site, process.cwd()), of.folder, configFolder(root));
    const place = `${site.name}:${folder}`;
    const shown = (path: string): string => {
      if (of !== undefined && path === config) return sitePlaceText({ site: of.site, folder: of.folder });
      return isSamePath(path, mirror.local)
        ? place
        : liesIn(path, mirror.local)
          ? `${place}/${relativePath(mirror.local, path)}`
          : path;
    };
    const failure = (error: unknown): unknown => {
      if (!(error instanceof UserError) || error.detail.file === undefined) return error;
      const file = shown(error.detail.file);
      return new UserError(error.message.replaceAll(mirror.local, place), { ...error.detail, file });
    };
    const mirrored = { root, site: { site: site.reference, folder } };
    return { folder: mirror.local, mirror: mirrored, config, shown, failure, discard };
  } catch (error) {
    discard();
    throw error;
  } finally {
    site.shell.close();
  }
}

const someBytes = 64 * 1024 * 1024;

type Asked = Omit<InputOf<typeof runsImport>, "folder" | "site">;

/** Starts following; waits where nothing has been written there yet, also while the machine is away. */
export async function followedSite(
  store: string | undefined,
  { site: name, folder }: SitePlace,
  asked: Asked,
): Promise<ResultOf<typeof runsImport>> {
  const env = reachingHere();
  for (let said = false; ; await wait(waits)) {
    try {
      return await withDaemon(store, (connection) =>
        ask(connection, runsImport, { ...asked, folder, site: { name, from: process.cwd(), env } }),
      );
    } catch (error) {
      const reason = refusedAs(error) ?? "";
      const nothing = ["import-nothing", "import-missing"].includes(reason);
      if (!nothing && !(said && reason === "site-unreachable")) throw error;
    }
    if (!said) complain(`waiting for the first step in ${name}:${folder}`);
    said = true;
  }
}

const waits = 2_000;
