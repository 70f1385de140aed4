import CGTK

/// The commands of the window, by menu, button or key.
enum Command: String, CaseIterable {
  case open, up, back, next, previous, first, last
  case openPicture = "open-picture"
  case zoomIn = "zoom-in"
  case zoomOut = "zoom-out"
  case zoomFit = "zoom-fit"
  case zoomActual = "zoom-actual"
  case zoomDouble = "zoom-double"
  case rotateLeft = "rotate-left"
  case rotateRight = "rotate-right"
  case flipHorizontally = "flip-horizontally"
  case flipVertically = "flip-vertically"
  case crop
  case copy, paste, trash, undo, reload, rename, delete
  case copyPixels = "copy-pixels"
  case saveTurn = "save-turn"
  case saveAs = "save-as"
  case print, wallpaper
  case copyTo = "copy-to"
  case moveTo = "move-to"
  case openWith = "open-with"
  case shortcuts, about, quit
  case selectAll = "select-all"
  case nextFrame = "next-frame"
  case previousFrame = "previous-frame"
  // These are on or off.
  case search, info, fullscreen, recursive, slideshow, shuffle, pause, reverse, statistics, origins

  /// The commands that are on or off.
  static let switches: [Command] = [
    .search, .info, .fullscreen, .recursive, .slideshow, .shuffle, .pause, .reverse, .statistics, .origins,
  ]

  /// The name of the window's action.
  var action: String { "win.\(rawValue)" }

  var title: String {
    switch self {
    case .open: translated("Open a Folder…")
    case .up: translated("Folder Above")
    case .back: translated("Back to All Pictures")
    case .openPicture: translated("Open")
    case .next: translated("Next Picture")
    case .previous: translated("Previous Picture")
    case .first: translated("First Picture")
    case .last: translated("Last Picture")
    case .zoomIn: translated("Zoom In")
    case .zoomOut: translated("Zoom Out")
    case .zoomFit: translated("Fit to the Window")
    case .zoomActual: translated("Actual Size")
    case .zoomDouble: translated("Twice the Actual Size")
    case .rotateLeft: translated("Turn Left")
    case .rotateRight: translated("Turn Right")
    case .flipHorizontally: translated("Flip Left to Right")
    case .flipVertically: translated("Flip Top to Bottom")
    case .crop: translated("Crop…")
    case .copy: translated("Copy")
    case .paste: translated("Paste Files or URLs")
    case .trash: translated("Move to the Trash")
    case .undo: translated("Undo")
    case .reload: translated("Reload")
    case .rename: translated("Rename…")
    case .delete: translated("Delete for Good…")
    case .copyPixels: translated("Copy the Pixels")
    case .saveTurn: translated("Save as Turned")
    case .saveAs: translated("Save As…")
    case .print: translated("Print…")
    case .wallpaper: translated("Set as Background…")
    case .copyTo: translated("Copy to a Folder…")
    case .moveTo: translated("Move to a Folder…")
    case .openWith: translated("Open With…")
    case .shortcuts: translated("Keyboard Shortcuts")
    case .about: translated("About Gallery")
    case .quit: translated("Quit")
    case .selectAll: translated("Select All")
    case .search: translated("Search by Name")
    case .info: translated("Information")
    case .fullscreen: translated("Full Screen")
    case .slideshow: translated("Slideshow")
    case .recursive: translated("With All Folders Within")
    case .shuffle: translated("In Random Order")
    case .pause: translated("Pause the Animation")
    case .nextFrame: translated("Next Frame or Page")
    case .previousFrame: translated("Previous Frame or Page")
    case .reverse: translated("In Reverse")
    case .statistics: translated("Statistics")
    case .origins: translated("Colour by Source")
    }
  }

  /// The key, as GTK writes it; menus show it.
  var key: String? {
    switch self {
    case .open: "<Control>o"
    case .up: "<Alt>Up"
    case .back: "Escape"
    case .openPicture: "Return"
    case .next: "space"
    case .previous: "BackSpace"
    case .first: "Home"
    case .last: "End"
    case .zoomIn: "<Control>plus"
    case .zoomOut: "<Control>minus"
    case .zoomFit: "<Control>0"
    case .zoomActual: "<Control>1"
    case .zoomDouble: "<Control>2"
    case .rotateLeft: "<Control><Shift>r"
    case .rotateRight: "<Control>r"
    case .flipHorizontally: "h"
    case .flipVertically: "v"
    case .crop: "c"
    case .copy: "<Control>c"
    case .paste: "<Control>v"
    case .trash: "Delete"
    case .undo: "<Control>z"
    case .reload: "F5"
    case .rename: "F2"
    case .delete: "<Shift>Delete"
    case .copyPixels: "<Control><Shift>i"
    case .saveTurn: "<Control>t"
    case .saveAs: "<Control>s"
    case .print: "<Control>p"
    case .wallpaper: "<Control>F8"
    case .copyTo: "<Control><Shift>c"
    case .moveTo: "<Control><Shift>m"
    case .openWith: "<Control>e"
    case .shortcuts: "<Control>question"
    case .about, .reverse, .shuffle, .recursive: nil
    case .quit: "<Control>q"
    case .selectAll: "<Control>a"
    case .search: "<Control>f"
    case .info: "F9"
    case .fullscreen: "F11"
    case .slideshow: "F6"
    case .pause: "k"
    case .nextFrame: "l"
    case .previousFrame: "j"
    case .statistics: "<Control><Shift>s"
    case .origins: "<Control><Shift>o"
    }
  }

  /// Returns the command of a key in any page, if it has one.
  static func of(_ key: UInt32, _ modifiers: GdkModifierType) -> Command? {
    let isControl = modifiers.rawValue & GDK_CONTROL_MASK.rawValue != 0
    let isShift = modifiers.rawValue & GDK_SHIFT_MASK.rawValue != 0
    guard modifiers.rawValue & GDK_ALT_MASK.rawValue == 0 else {
      switch Int32(key) {
      case GDK_KEY_Left: return .back
      case GDK_KEY_Up: return .up
      default: return nil
      }
    }
    let letter = gdk_keyval_to_lower(key)
    if isControl {
      switch Int32(letter) {
      case GDK_KEY_F8: return .wallpaper
      case GDK_KEY_o: return isShift ? .origins : .open
      case GDK_KEY_s: return isShift ? .statistics : .saveAs
      case GDK_KEY_p: return .print
      case GDK_KEY_t: return .saveTurn
      case GDK_KEY_i: return isShift ? .copyPixels : nil
      case GDK_KEY_f: return .search
      case GDK_KEY_c, GDK_KEY_Insert: return isShift ? .copyTo : .copy
      case GDK_KEY_m: return isShift ? .moveTo : nil
      case GDK_KEY_question, GDK_KEY_slash: return .shortcuts
      case GDK_KEY_v: return .paste
      case GDK_KEY_z: return .undo
      case GDK_KEY_e: return .openWith
      case GDK_KEY_q, GDK_KEY_w: return .quit
      case GDK_KEY_r: return isShift ? .rotateLeft : .rotateRight
      case GDK_KEY_plus, GDK_KEY_equal, GDK_KEY_KP_Add: return .zoomIn
      case GDK_KEY_minus, GDK_KEY_KP_Subtract: return .zoomOut
      case GDK_KEY_0, GDK_KEY_KP_0: return .zoomFit
      case GDK_KEY_1, GDK_KEY_KP_1: return .zoomActual
      case GDK_KEY_2, GDK_KEY_KP_2: return .zoomDouble
      default: return nil
      }
    }
    switch Int32(key) {
    case GDK_KEY_Escape, GDK_KEY_Back: return .back
    case GDK_KEY_Delete, GDK_KEY_KP_Delete: return isShift ? .delete : .trash
    case GDK_KEY_F1: return .shortcuts
    case GDK_KEY_F2: return .rename
    case GDK_KEY_F6: return .slideshow
    case GDK_KEY_F5: return .reload
    case GDK_KEY_F9: return .info
    case GDK_KEY_F11: return .fullscreen
    case GDK_KEY_Insert: return isShift ? .paste : nil
    default: return nil
    }
  }

  /// Returns the command of a key while a photograph is open.
  ///
  /// From right to left, the left arrow goes on.
  static func ofPhotograph(_ key: UInt32, isFitting: Bool, hasPages: Bool, isRightToLeft: Bool) -> Command? {
    switch Int32(key) {
    case GDK_KEY_Page_Down where isFitting && hasPages: .nextFrame
    case GDK_KEY_Page_Up where isFitting && hasPages: .previousFrame
    case GDK_KEY_space, GDK_KEY_n: .next
    case GDK_KEY_BackSpace, GDK_KEY_p: .previous
    case GDK_KEY_Home: isFitting ? .first : nil
    case GDK_KEY_End: isFitting ? .last : nil
    // They move the picture where it is larger than the window.
    case GDK_KEY_Right: isFitting ? (isRightToLeft ? .previous : .next) : nil
    case GDK_KEY_Left: isFitting ? (isRightToLeft ? .next : .previous) : nil
    case GDK_KEY_Page_Down: isFitting ? .next : nil
    case GDK_KEY_Page_Up: isFitting ? .previous : nil
    case GDK_KEY_plus, GDK_KEY_equal, GDK_KEY_KP_Add: .zoomIn
    case GDK_KEY_minus, GDK_KEY_KP_Subtract: .zoomOut
    case GDK_KEY_0, GDK_KEY_KP_0: .zoomFit
    case GDK_KEY_1, GDK_KEY_KP_1: .zoomActual
    case GDK_KEY_2, GDK_KEY_KP_2: .zoomDouble
    case GDK_KEY_h: .flipHorizontally
    case GDK_KEY_v: .flipVertically
    case GDK_KEY_c: .crop
    case GDK_KEY_k: .pause
    case GDK_KEY_l: .nextFrame
    case GDK_KEY_j: .previousFrame
    case GDK_KEY_f: .fullscreen
    case GDK_KEY_i: .info
    default: nil
    }
  }
}
