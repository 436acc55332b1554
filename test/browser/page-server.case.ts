/** The web server of somebody else: gives out one page, and takes what the page's script reports. */
import { createServer, type Server } from 'node:http'
import { type AddressInfo, connect, createServer as createTcpServer, type Socket } from 'node:net'

export type PageServer = AsyncDisposable & {
  readonly port: number
  /** What the page has reported; rejects when it does not in time. */
  readonly report: (limitMs: number) => Promise<unknown>
}

const dispose = (server: { close(done: () => void): unknown; closeAllConnections?: () => void }) =>
  new Promise<void>((resolve) => {
    server.close(() => resolve())
    server.closeAllConnections?.()
  })

/** `html` is asked for at each visit of `/`. */
export async function servePage(html: () => string): Promise<PageServer> {
  const reported = Promise.withResolvers<unknown>()
  const server: Server = createServer((request, response) => {
    if (request.url !== '/report') return response.setHeader('content-type', 'text/html').end(html())
    let text = ''
    request.on('data', (part: Buffer) => (text += part.toString()))
    request.on('end', () => {
      reported.resolve(JSON.parse(text))
      response.end()
    })
    return undefined
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    report: (limitMs) => {
      const late = Promise.withResolvers<never>()
      const timer = setTimeout(() => late.reject(new Error(`no report of the page in ${limitMs} ms`)), limitMs)
      return Promise.race([reported.promise, late.promise]).finally(() => clearTimeout(timer))
    },
    [Symbol.asyncDispose]: () => dispose(server),
  }
}

/**
 * What DNS rebinding looks like from both ends: 127.0.0.2:PORT gives out the page, and everything else that is asked of it reaches
 * whatever listens on 127.0.0.1:PORT, so that for the browser both are one origin.
 */
export async function serveRebinding(port: number, html: string): Promise<AsyncDisposable> {
  const sockets = new Set<Socket>()
  const keep = (socket: Socket) => {
    sockets.add(socket)
    socket.on('error', () => socket.destroy()).on('close', () => sockets.delete(socket))
    return socket
  }
  const server = createTcpServer((socket) => {
    // A browser may open connections that it does not use: only what is asked tells.
    keep(socket).once('data', (asked: Buffer) => {
      if (asked.toString('latin1').startsWith('GET / ')) {
        const head = `HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: ${Buffer.byteLength(html)}\r\nConnection: close`
        socket.end(`${head}\r\n\r\n${html}`)
        return
      }
      const behind = keep(connect(port, '127.0.0.1'))
      behind.on('close', () => socket.destroy())
      behind.write(asked)
      socket.pipe(behind).pipe(socket)
    })
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.2', resolve)
  })
  return {
    [Symbol.asyncDispose]: () => {
      for (const socket of sockets) socket.destroy()
      return dispose(server)
    },
  }
}
