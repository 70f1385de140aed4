import CGTK
import Vitrine
import VitrineGTK
import VitrineGalleryModel
import VitrineImaging
import VitrineRuntime

// Pictures that leave the window: as files, on paper, on the clipboard.
extension GalleryWindow {
  /// The request of a picture with all its pixels, turned and cropped as it is shown.
  private func edited(_ item: GalleryItem) -> ImageRequest {
    var request = item.request
    if page == .photo { (request.processors, request.frame) = (photo.view.edit.processors, photo.view.page) }
    return request
  }

  /// The request of a picture for a file: of all frames, and of no picture with a part missing.
  private func written(_ item: GalleryItem) -> ImageRequest {
    var request = edited(item)
    (request.animates, request.acceptsPartial) = (request.frame == 0, false)
    return request
  }

  /// Puts the pixels of a picture on the clipboard.
  func copyPixels() async {
    guard let item = subjects.first else { return }
    do throws(LoadError) {
      Desktop.copy(try await photo.pipeline.image(for: edited(item)), from: window)
      toast.show(translated("The pixels are copied"))
    } catch {
      toast.show(error.shortText)
    }
  }

  /// Prints a picture, at no more pixels than a page shows.
  func printPixels() async {
    guard let item = subjects.first else { return }
    var request = edited(item)
    request.size = .pixels(4096)
    do throws(LoadError) {
      Printing.print(try await photo.pipeline.image(for: request), name: item.name, in: window)
    } catch {
      toast.show(error.shortText)
    }
  }

  /// The longest side of a background, in pixels: two displays of 4K.
  private static let wallpaperSide = 7680.0

  /// Gives a picture to the desktop as its background, as JPEG, which each desktop reads.
  func setWallpaper() async {
    guard let item = subjects.first else { return }
    var request = edited(item)
    request.size = .pixels(Self.wallpaperSide, Self.wallpaperSide, .fit)
    request.acceptsPartial = false
    do throws(LoadError) {
      let data = try await photo.pipeline.encoded(for: request, as: .jpeg(quality: 95)).data
      let written = try? await Self.files.run { _ in
        Result { () throws(FileError) in try Wallpaper.write(data) }
      }
      switch written {
      case nil: break
      case .success(let file): Wallpaper.set(file) { [weak self] in self?.wallpaperSet($0) }
      case .failure(let error): wallpaperSet(.failed(error.description))
      }
    } catch {
      wallpaperSet(.failed(error.detail))
    }
  }

  private func wallpaperSet(_ outcome: Wallpaper.Outcome) {
    let text =
      switch outcome {
      case .asked: translated("The picture is given to the desktop as its background")
      case .unavailable: translated("This desktop offers no way to set its background")
      case .failed(let reason): translated("It cannot be set as the background: %s", reason)
      }
    toast.show(text)
  }

  /// Asks for a name, a size and a format, and writes a picture.
  func saveAs() {
    guard let item = subjects.first else { return }
    let request = written(item)
    SaveDialog.choose(in: window, name: item.name, folder: item.folder) { [weak self] wish in
      guard let self else { return }
      guard let wish else {
        return toast.show(translated("The name needs an ending such as .jpg, .png, .webp or .avif"))
      }
      Task { await self.save(request, wish) }
    }
  }

  private func save(_ request: ImageRequest, _ wish: SaveDialog.Wish) async {
    var request = request
    if let side = wish.longestSide { request.size = .pixels(Double(side), Double(side), .fit) }
    do throws(LoadError) {
      let file = try await photo.pipeline.encoded(for: request, as: wish.encoding)
      let problem = try? await Self.files.run { _ -> String? in
        do {
          try AtomicFile.replace(ByteString(fileText: wish.path), with: file.data)
          return nil
        } catch {
          return "\(error)"
        }
      }
      if let problem = problem ?? nil { return toast.show(translated("It cannot be saved: %s", problem)) }
      await library.filesChanged([wish.path])
      let size = PhotoFacts.bytes(file.data.count)
      let text =
        switch await rest(of: request, file.format) {
        case .nothing: translated("Saved: %s", size)
        case .frames: translated("Saved: %s, the first picture only; this format has no animation", size)
        case .pages: translated("Saved: %s, without the other pages", size)
        }
      toast.show(text)
    } catch {
      toast.show(translated("It cannot be saved: %s", error.detail))
    }
  }

  /// The pictures of a file that are left out where one of them is saved.
  private enum Rest {
    case nothing, frames, pages
  }

  /// Returns the pictures that are left out where one is written in a format.
  private func rest(of request: ImageRequest, _ format: ImageFormat) async -> Rest {
    guard let file = try? await photo.pipeline.resources.bytes(for: request).content else { return .nothing }
    let info = try? await Self.files.run { _ in
      try? GalleryPipeline.decoders.info(of: file, limits: DecodeLimits())
    }
    guard let info = info ?? nil, info.frameCount > 1 else { return .nothing }
    guard info.duration > 0 else { return .pages }
    return request.frame == 0 && format.row.motion == .never ? .frames : .nothing
  }

  // MARK: Changes of the file itself

  /// Saves the open photograph as it is turned and cropped: a JPEG without loss where its blocks allow that.
  func saveEdit() async {
    let edit = photo.view.edit
    guard let item = photo.item, let path = item.path, !edit.isEmpty else { return }
    let (request, limits) = (written(item), photo.pipeline.configuration.decodeLimits)
    do {
      guard let (file, data) = try await contents(of: path, edit, request, limits) else { return }
      let outcome = await change([path]) { path throws(FileChangeError) in
        guard FolderListing.item(at: path)?.version == file.version else {
          throw FileChangeError(path: path, detail: "another program has changed it")
        }
        return try FileChange.change(path, from: file.data, to: data.file)
      }
      if let problem = outcome?.problem { throw problem }
      if let change = outcome?.changes.first { history.add(.changed(change)) }
      // The file is changed now, and no longer the view, unless that shows another one by now.
      if photo.item?.id == item.id {
        crop.end()
        photo.view.undoTurns()
      }
      await library.filesChanged([path])
      toast.show(
        data.isLossless ? translated("Saved without loss") : translated("Saved; the picture was encoded again"),
        canUndo: true,
      )
      update()
    } catch {
      let detail =
        (error as? LoadError)?.detail ?? (error as? FileChangeError)?.detail ?? (error as? ImageError)?.detail
      toast.show(translated("It cannot be saved: %s", detail ?? "\(error)"))
    }
  }

  /// Reads a file, and makes its new contents; `nil` if its kind cannot be written, of which the user is told.
  private func contents(
    of path: String,
    _ edit: PictureEdit,
    _ request: ImageRequest,
    _ limits: DecodeLimits,
  ) async throws -> (EditedFile, (file: Data, isLossless: Bool))? {
    let read = try await Self.files.run { _ in
      Result {
        let file = try EditedFile(path, GalleryPipeline.decoders, limits)
        return (file, try file.changed(by: edit))
      }
    }
    let (file, changed) = try read.get()
    if let changed { return (file, (changed, true)) }
    guard let encoding = file.encoding else {
      toast.show(translated("Pictures of this kind cannot be saved; use “Save As…”"))
      return nil
    }
    return (file, (try await photo.pipeline.encoded(for: request, as: encoding).data, file.isLossless))
  }
}
