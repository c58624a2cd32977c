import { resolve } from "node:path";
import { looseSources } from "../../lib/own/looseSources.ts";
import { admit } from "../../lib/own/withheld.ts";
import type { Prepared } from "../../lib/own/prepared.ts";
import type { CallToolResult, Client, ListToolsResult, Transport } from "@modelcontextprotocol/client";
import { z } from "zod";
import { messageOf, UserError } from "../../../shared/lib/errors.ts";
import { objectOf } from "../../../shared/lib/json.ts";
import { param, tool } from "../../core/declaration.ts";
import type { Tool, Tools } from "../../core/slots/tool.ts";

const params = z.object({
  command: param(
    z.array(z.string()).min(1).optional(),
    "Program and arguments of a server that speaks over its standard input and output.",
  ),
  url: param(z.url().optional(), "Address of a server that speaks Streamable HTTP."),
  env: param(
    z.record(z.string(), z.string()).default({}),
    "Variables of the program's environment, next to a few of this process's (HOME, PATH, …).",
  ),
  cwd: param(z.string().min(1).optional(), "Folder that the program runs in; default: the config's."),
  headers: param(z.record(z.string(), z.string()).default({}), "Headers of every request to `url`."),
  only: param(
    z.array(z.string().min(1)).min(1).optional(),
    "Names of the tools that the policy may call; default: all.",
  ),
  prefix: param(z.string().default(""), "What the tools' names begin with for the policy."),
  timeout: param(z.number().positive().default(30), "Seconds that one call may take."),
});
type Params = z.output<typeof params>;

/** The texts of a result; what is no text is named. */
const textOf = ({ content }: CallToolResult): string =>
  content.map((block) => (block.type === "text" ? block.text : `[${block.type}]`)).join("\n");

class McpTools implements Tools {
  private client: Client | undefined;
  made: Prepared | undefined;

  constructor(
    private readonly chosen: Params,
    private readonly folder: string,
  ) {}

  async open(): Promise<readonly Tool[]> {
    const { only, prefix, command, url } = this.chosen;
    if ((command === undefined) === (url === undefined))
      throw this.refusal("it needs a `command` or a `url`, one of them");
    this.made = { sources: await looseSources(command ?? [], this.place) };
    const { tools } = await this.connected();
    const missing = only?.find((name) => !tools.some((one) => one.name === name));
    if (missing !== undefined)
      throw this.refusal(
        `it has no tool \`${missing}\`; it has ${tools.map(({ name }) => `\`${name}\``).join(", ") || "none"}`,
      );
    return tools
      .filter(({ name }) => only?.includes(name) !== false)
      .map(({ name, description = name, inputSchema }) => ({
        name: prefix + name,
        description,
        parameters: objectOf(inputSchema),
        call: (args, { signal }) => this.call(name, args, signal),
      }));
  }

  private async connected(): Promise<ListToolsResult> {
    // Slow to load, and few runs have such a server.
    const { Client: McpClient } = await import("@modelcontextprotocol/client");
    const client = (this.client = new McpClient({ name: "gradus", version: "1" }));
    try {
      await client.connect(await this.transport(), { timeout: this.milliseconds });
      return await client.listTools();
    } catch (error) {
      await client.close();
      throw this.refusal(messageOf(error), error);
    }
  }

  /** Where its program runs. */
  private get place(): string {
    return resolve(this.folder, this.chosen.cwd ?? ".");
  }

  private async transport(): Promise<Transport> {
    const { command, url, env, headers } = this.chosen;
    const { StreamableHTTPClientTransport } = await import("@modelcontextprotocol/client");
    const { StdioClientTransport } = await import("@modelcontextprotocol/client/stdio");
    if (url !== undefined)
      return new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } });
    const [program = "", ...args] = command ?? [];
    admit(`The MCP server ${program}`, this.place);
    return new StdioClientTransport({
      command: program,
      args,
      env,
      cwd: this.place,
      stderr: "ignore",
    });
  }

  private get milliseconds(): number {
    return this.chosen.timeout * 1000;
  }

  /** What the server says of a wrong call is a text that the policy reads; a server that does not answer is an error. */
  private async call(
    name: string,
    args: Parameters<Tool["call"]>[0],
    signal: AbortSignal | undefined,
  ): Promise<string> {
    const options = { timeout: this.milliseconds, ...(signal !== undefined && { signal }) };
    const result = await this.client!.callTool({ name, arguments: { ...args } }, options);
    return result.isError === true ? `Error: ${textOf(result)}` : textOf(result);
  }

  private refusal(message: string, cause?: unknown): UserError {
    const { command, url } = this.chosen;
    const server = url ?? command?.join(" ") ?? "";
    return new UserError(`the MCP server${server === "" ? "" : ` ${server}`}: ${message}`, {
      code: "tool-mcp",
      action: "Try the server's command or address by hand, and correct the tool in `rollout.tools`.",
      cause,
    });
  }

  async close(): Promise<void> {
    await this.client?.close();
  }
}

export const mcp = tool({
  name: "mcp",
  summary: "The tools of a server that speaks the Model Context Protocol: a program, or an address.",
  sources: ["Model Context Protocol"],
  params,
  create: (chosen, { folder }) => new McpTools(chosen, folder),
});
