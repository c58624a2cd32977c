import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { Option } from "commander";
import { colours } from "../text/colours.ts";
import { messageOf, UserError } from "../../../shared/lib/errors.ts";
import { apiPlaces, clientVariables } from "../../endpoint/clientVariables.ts";
import { openEndpoint, type Endpoint } from "../../endpoint/server.ts";
import { followWeights } from "../../engine/weights/publish.ts";
import { announceServing, publishedPath } from "../../run/loop/serving.ts";
import { complain, print, printJson, type Command } from "../command.ts";
import { whole } from "../options.ts";
import { checkpointWords } from "../runs/checkpointNames.ts";
import { serveStore } from "./daemonProcess.ts";
import { policyToServe } from "./policyToServe.ts";

interface Options {
  readonly store?: string;
  readonly port: number;
  readonly token?: string;
  readonly name?: string;
  readonly lanes: number;
  readonly seed: number;
  readonly json?: boolean;
  readonly whileStdin?: boolean;
}

export const command: Command = {
  name: "serve",
  configure: (program) => {
    program
      .argument("[model]", checkpointWords)
      .option("--store <folder>", "the store of the run, or a folder in its workspace")
      .option("--port <n>", "port on this machine; 0: any that is free", whole(0), 0)
      .option(
        "--token <text>",
        "what clients send as their API key; default: GRADUS_SERVE_TOKEN, else a new one",
      )
      .option("--name <text>", "what requests call the model; default: the run's name")
      .option("--lanes <n>", "answers that are written at once, at most", whole(1), 32)
      .option("--seed <n>", "seed of the sampling", whole(), 1)
      .option("--json", "one JSON object: url, token and the variables to set")
      .addOption(
        // Of a run's worker, whose end closes the pipe.
        new Option("--while-stdin", "ends with its standard input").hideHelp(),
      )
      .addHelpText(
        "after",
        "\nA run that trains is followed: every request is answered by the weights of its latest step. Ctrl-C ends it.",
      )
      .action(async (model: string | undefined, options: Options) => {
        // Windows of earlier versions start the daemon so.
        if (model === undefined && options.store !== undefined) return serveStore(options.store);
        if (model === undefined)
          throw new UserError("Which model? Name a run or a checkpoint.", {
            code: "usage",
            action: "gradus serve last serves the newest run.",
          });
        await serve(model, options);
      });
  },
};

/** @throws UserError for an empty one, which would let everyone in */
function tokenOf({ token: written }: Options): string {
  const token = written ?? process.env["GRADUS_SERVE_TOKEN"] ?? randomBytes(24).toString("base64url");
  if (token.trim() !== "") return token;
  throw new UserError(
    `${written === undefined ? "GRADUS_SERVE_TOKEN" : "--token"} is empty, so anyone could ask the policy.`,
    {
      code: "empty-token",
      action: "Give it a token, or unset it: then `gradus serve` makes a new one.",
    },
  );
}

async function serve(words: string, options: Options): Promise<void> {
  const token = tokenOf(options);
  const { policy, name, run } = await policyToServe(words, { ...options, store: options.store });
  const ending = new AbortController();
  const closers: (() => Promise<void> | void)[] = [() => policy.close()];
  try {
    const endpoint = await openEndpoint({
      policy,
      model: options.name ?? name,
      token,
      port: options.port,
      seed: options.seed,
      lanes: options.lanes,
      report: complain,
    });
    closers.push(() => endpoint.close());
    if (run !== undefined) {
      closers.push(announceServing(run));
      void follow(run, endpoint, policy.version, ending.signal);
    }
    const asked = Promise.race([
      once(process, "SIGINT"),
      once(process, "SIGTERM"),
      ...(options.whileStdin === true ? [once(process.stdin.resume(), "close")] : []),
    ]);
    say(endpoint.url, token, options.name ?? name, policy.version, options.json === true);
    await asked;
  } finally {
    ending.abort();
    process.stdin.destroy();
    for (const close of closers.reverse()) await close();
  }
}

/** Newer weights serve the requests that come after them. What cannot be taken up is reported, and the present ones stay. */
async function follow(run: string, endpoint: Endpoint, after: number, signal: AbortSignal): Promise<void> {
  try {
    for await (const { version, weights } of followWeights(publishedPath(run), { after, signal })) {
      try {
        endpoint.adopt(weights, version);
      } catch (error) {
        complain(`version ${version} cannot be served: ${messageOf(error)}`);
      }
    }
  } catch (error) {
    complain(`the run is not followed any more: ${messageOf(error)}`);
  }
}

function say(url: string, token: string, model: string, version: number, json: boolean): void {
  const environment = clientVariables(apiPlaces(url), token);
  if (json) return printJson({ url, token, model, version, pid: process.pid, environment });
  print(`${colours.dim("serving")} ${model} ${colours.dim(`(version ${version}) at`)} ${url}`);
  for (const [name, value] of Object.entries(environment)) print(`export ${name}=${value}`);
}
