public import VitrineImaging
public import VitrineRuntime

/// Encodes one format in the processes of a ``Sandbox``; see ``Sandbox/encoders``.
///
/// The bytes are those that the encoder gives in the program itself. Cancellation takes effect at once, also where the
/// library cannot be stopped: the process is killed. A crash costs one picture.
public struct SandboxEncoder: ImageEncoder {
  /// The format it writes.
  public let format: ImageFormat
  let pool: WorkerPool

  init(_ format: ImageFormat, _ pool: WorkerPool) { (self.format, self.pool) = (format, pool) }

  /// All formats that are encoded in a sandbox have a place for everything.
  public var features: EncoderFeatures { [.displayP3, .animation, .exif, .xmp, .alpha] }

  /// Encodes a picture, whose pixels are copied once.
  ///
  /// Blocks until done. Frames of an animation are decoded here, one after another.
  ///
  /// - Throws: `ImageError` of code `.notEncodable`, also if the process crashes, is killed or cannot be started; of
  ///   code `.cancelled`; of any other code if a frame of an animation cannot be decoded.
  public func encode(_ input: EncoderInput, _ options: SandboxEncodingOptions) throws(ImageError) -> Data {
    var attempts = 0
    while true {
      attempts += 1
      let worker = try take(input)
      var conversation = EncodeConversation(worker, input, options, format)
      do throws(Conversation.Failure) {
        let data = try conversation.run()
        finish(worker)
        return data
      } catch {
        switch error {
        case .image(let error):
          finish(worker)
          throw error
        // It may have been killed while it was idle, which costs no image.
        case .ended(hasImage: false) where attempts < SandboxDecoder.attemptLimit: pool.retire(worker)
        case .ended:
          let signal = worker.end().map { $0 & 0x7F } ?? 0
          pool.count { $0.crashed += 1 }
          pool.retire(worker)
          throw self.error("the process that encodes it \(SandboxDecoder.cause(signal))")
        case .stuck(let error):
          pool.count { $0.stopped += 1 }
          pool.retire(worker)
          throw error
        case .lied(let field):
          pool.count { $0.crashed += 1 }
          pool.retire(worker)
          throw self.error("the process that encodes it answered with an impossible \(field)")
        case .noMemory:
          pool.retire(worker)
          throw self.error("the system has no memory to share with the process that encodes it")
        }
      }
    }
  }

  private func take(_ input: EncoderInput) throws(ImageError) -> WorkerProcess {
    do throws(ImageError) {
      return try pool.take(WorkerKind(encoding: format)) { () throws(ImageError) in try input.checkCancellation() }
    } catch {
      throw error.isCancellation ? error : self.error(error.detail)
    }
  }

  private func finish(_ worker: WorkerProcess) {
    worker.finishImage(nil)
    pool.count { $0.images += 1 }
    pool.giveBack(worker)
  }

  private func error(_ reason: String) -> ImageError {
    ImageError(.notEncodable, format: format, "cannot be encoded as \(format): \(reason)")
  }
}

extension SandboxEncoder: MeasuredEncoder {
  /// As much as the library takes in the other process, and the copy of the pixels.
  package var byteCountPerPixel: Int { format.row.encodingByteCount + 4 }
}
