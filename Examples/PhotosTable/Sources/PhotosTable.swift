// A table of photographs; one of them the server does not have.
//
//   python3 -m http.server 8000 --directory Examples/Photographs
//
// In Xcode: a new app without a storyboard, with this file in place of its own and the product VitrineApple of this
// package. Info.plist sets NSAllowsLocalNetworking in NSAppTransportSecurity to YES.

import UIKit
import VitrineApple

@main
final class AppDelegate: UIResponder, UIApplicationDelegate {
  var window: UIWindow?

  func application(
    _ application: UIApplication,
    didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?,
  ) -> Bool {
    let window = UIWindow()
    window.rootViewController = PhotosTable()
    window.makeKeyAndVisible()
    self.window = window
    return true
  }
}

final class PhotosTable: UITableViewController {
  static let names = [
    "aeroplane-rgb.png", "autumn-avenue-nikon.jpg", "caps-p3-profile.jpg", "macaws-444.jpg", "not-there.jpg",
    "lighthouse-progressive.jpg", "motocross-lossy.webp", "red-barn-progressive.jpg", "red-door-palette.png",
    "statue-grey.jpg", "waterfall-cliff-large.jpg", "yacht-lossy-alpha.webp",
  ]

  private let pipeline: ImagePipeline
  private lazy var prefetchSource = ImagePrefetchSource(pipeline) { [unowned self] in request(at: $0) }

  init(_ pipeline: ImagePipeline = .shared) {
    self.pipeline = pipeline
    super.init(style: .plain)
  }

  required init?(coder: NSCoder) { nil }

  override func viewDidLoad() {
    super.viewDidLoad()
    tableView.rowHeight = 76
    tableView.register(PhotoCell.self, forCellReuseIdentifier: "photo")
    tableView.prefetchDataSource = prefetchSource
  }

  override func tableView(_ tableView: UITableView, numberOfRowsInSection section: Int) -> Int { Self.names.count }

  override func tableView(_ tableView: UITableView, cellForRowAt indexPath: IndexPath) -> UITableViewCell {
    let cell = tableView.dequeueReusableCell(withIdentifier: "photo", for: indexPath)
    guard let cell = cell as? PhotoCell else { return cell }
    cell.title.text = Self.names[indexPath.row]
    cell.photo.vitrine.pipeline = pipeline
    cell.photo.vitrine.load(
      request(at: indexPath),
      placeholder: .symbol("photo"),
      failure: .symbol("photo.badge.exclamationmark"),
    )
    return cell
  }

  /// The request of a row: the same for its cell and before that, so that what was prefetched is what is shown.
  private func request(at indexPath: IndexPath) -> ImageRequest {
    let url = "http://localhost:8000/\(Self.names[indexPath.row])"
    let scale = Double(max(traitCollection.displayScale, 1))
    return ImageRequest(url: url, size: .points(60, 60, .fill, scale: scale))
  }
}

final class PhotoCell: UITableViewCell {
  let photo = UIImageView()
  let title = UILabel()

  override init(style: UITableViewCell.CellStyle, reuseIdentifier: String?) {
    super.init(style: style, reuseIdentifier: reuseIdentifier)
    photo.contentMode = .scaleAspectFit
    for view in [photo, title] {
      view.translatesAutoresizingMaskIntoConstraints = false
      contentView.addSubview(view)
    }
    NSLayoutConstraint.activate([
      photo.leadingAnchor.constraint(equalTo: contentView.leadingAnchor, constant: 16),
      photo.centerYAnchor.constraint(equalTo: contentView.centerYAnchor),
      photo.widthAnchor.constraint(equalToConstant: 60),
      photo.heightAnchor.constraint(equalToConstant: 60),
      title.leadingAnchor.constraint(equalTo: photo.trailingAnchor, constant: 12),
      title.centerYAnchor.constraint(equalTo: contentView.centerYAnchor),
    ])
  }

  required init?(coder: NSCoder) { nil }
}
