/** Runs one shell command that the person has allowed: bounded output, ended when the turn is. */
import { spawn } from 'node:child_process'

/** More of a command's output is cut. Units: characters. */
export const shellOutputMax = 64 * 1024

export function runShell(command: string, cwd: string, signal: AbortSignal): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn('sh', ['-c', command], { cwd, stdio: ['ignore', 'pipe', 'pipe'], signal })
    let output = ''
    const take = (bytes: Buffer) => {
      if (output.length < shellOutputMax) output += bytes.toString('utf8')
    }
    child.stdout.on('data', take)
    child.stderr.on('data', take)
    child.once('error', (error) => (signal.aborted ? reject(error) : resolve(error.message)))
    child.once('close', (code) => {
      const text = output.slice(0, shellOutputMax).trimEnd()
      resolve(code === 0 ? text : `${text}\nexit code ${code}`.trimStart())
    })
  })
}
